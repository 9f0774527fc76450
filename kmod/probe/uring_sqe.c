// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probe for io_uring commands that point to their SQE, which contains the payload; older ones point
 * to the payload.
 */
#if __has_include(<linux/io_uring/cmd.h>)
#include <linux/io_uring/cmd.h>
#else
#include <linux/io_uring.h>
#endif

const void *probe(struct io_uring_cmd *cmd);
const void *probe(struct io_uring_cmd *cmd)
{
#if NEW
	return cmd->sqe->cmd;
#else
	return cmd->cmd;
#endif
}
