/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a receiver is shown: a token, headers, a certificate; each a credential or not there. */
#ifndef SPEPROF_SECRETS_H
#define SPEPROF_SECRETS_H

#include "codec/env.h"

#define SECRETS_HEADERS 16

/**
 * struct secrets
 * @token: or NULL
 * @headers: "Name: value", @header_count of them, within @text
 * @certificate, @key: paths; "" for none
 */
struct secrets {
	char *token;
	char *text;
	const char *headers[SECRETS_HEADERS];
	unsigned int header_count;
	char certificate[512];
	char key[512];
};

/**
 * secrets_read() - the credentials @receiver-token, -headers, -certificate and -key
 * @ret_why: on failure, which should be what
 *
 * Return: 0; -EINVAL. secrets_clear() is due in either case.
 */
int secrets_read(struct secrets *ret_secrets, const char *receiver, char *ret_why, size_t size);
void secrets_clear(struct secrets *secrets);

#endif
