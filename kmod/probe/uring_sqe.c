// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probe for struct io_uring_cmd.sqe, which points to the SQE with the payload; on older kernels
 * io_uring_cmd.cmd points to the payload.
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
