// SPDX-License-Identifier: GPL-2.0-only
/* struct io_uring_cmd lives in a header of its own, and brings the SQE. */
#include <linux/io_uring/cmd.h>

const void *probe(struct io_uring_cmd *cmd);
const void *probe(struct io_uring_cmd *cmd)
{
	return io_uring_sqe_cmd(cmd->sqe);
}
