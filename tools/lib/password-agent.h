/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who asks for a password on a terminal where polkit wants one: pkttyagent, as systemctl
 * starts it. Without a desktop's agent the answer would be no at once.
 */
#ifndef SPEPROF_PASSWORD_AGENT_H
#define SPEPROF_PASSWORD_AGENT_H

#include <sys/types.h>

/**
 * agent_start() - once it has registered, or cannot
 *
 * Not for root, who is not asked, nor without a terminal to ask on.
 *
 * Return: its process, or 0 if there is none.
 */
pid_t agent_start(void);

/** agent_stop() - end what agent_start() returned; it may be 0 */
void agent_stop(pid_t agent);

#endif
