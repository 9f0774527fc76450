/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Run pkttyagent, polkit's agent that prompts for a password on this terminal; systemctl uses it,
 * too. Without an agent polkit refuses immediately.
 */
#ifndef SPEPROF_PASSWORD_AGENT_H
#define SPEPROF_PASSWORD_AGENT_H

#include <sys/types.h>

/**
 * password_agent_start() - start pkttyagent, and wait until it has registered with polkit, or has
 * failed
 *
 * The agent is not started for root, from which polkit requires no password, or if standard input
 * is no terminal.
 *
 * Return: PID of the agent, for password_agent_stop(); 0 if there is none.
 */
pid_t password_agent_start(void);

/**
 * password_agent_stop() - end the agent, which first restores the terminal
 * @agent: result of password_agent_start(); nothing is done for 0
 */
void password_agent_stop(pid_t agent);

#endif
