/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The agent with which polkit queries a password on this terminal: pkttyagent, which systemctl
 * starts as well. Without an agent polkit refuses at once.
 */
#ifndef SPEPROF_PASSWORD_AGENT_H
#define SPEPROF_PASSWORD_AGENT_H

#include <sys/types.h>

/**
 * agent_start() - start pkttyagent, and wait until it has registered with polkit or failed to
 *
 * The agent is not started if the caller is root, as polkit requires no authentication of root, nor
 * if standard input is no terminal.
 *
 * Return: PID of the agent, for agent_stop(); 0 if there is none.
 */
pid_t agent_start(void);

/**
 * agent_stop() - end the agent, which restores the terminal first
 * @agent: what agent_start() returned; nothing is done for 0
 */
void agent_stop(pid_t agent);

#endif
