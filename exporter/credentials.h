/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Credentials, which systemd passes as files in $CREDENTIALS_DIRECTORY. */
#ifndef SPEPROF_CREDENTIALS_H
#define SPEPROF_CREDENTIALS_H

#include "codec/env.h"

/* Headers that a receiver's credential may have at most. */
#define CREDENTIALS_HEADERS 16

/**
 * credential_read() - read the credential speprof-exporter.@name
 * @name: without the prefix: "token"
 * @ret_text: allocated, without white space at its end; NULL if there is no such credential
 *
 * Return: 0, also if there is none; -EBADMSG if it is empty, longer than 64 KiB or contains a NUL;
 * -ENAMETOOLONG, -ENOMEM or the errno of opening the file.
 */
int credential_read(const char *name, char **ret_text);

/**
 * credential_is_line() - check that a text has no control character
 * @text: a header's value, or a token, which becomes one
 *
 * A control character such as a line feed would end the header and begin another one.
 *
 * Return: true if it has none.
 */
bool credential_is_line(const char *text);

/**
 * struct receiver_credentials - what authorizes the exporter at one receiver
 * @token: sent as "Authorization: Bearer"; NULL for none
 * @text: the credential that @headers point into; NULL for none
 * @headers: "Name: value", @header_count of them
 * @header_count: 0 to CREDENTIALS_HEADERS
 * @certificate: path of the client's certificate; "" for none
 * @key: path of its key; "" for none
 */
struct receiver_credentials {
	char *token;
	char *text;
	const char *headers[CREDENTIALS_HEADERS];
	unsigned int header_count;
	char certificate[512];
	char key[512];
};

/**
 * receiver_credentials_read() - read the credentials @receiver-token, -headers, -certificate and -key
 * @ret_credentials: to be released by receiver_credentials_clear(), also on failure
 * @receiver: "remote-write", "otlp" or "profiles"
 * @ret_why: on failure, one line: which credential is wrong, and what it should be
 * @size: of @ret_why, in bytes
 *
 * Each of them may be missing; a certificate needs its key.
 *
 * Return: 0 or -EINVAL.
 */
int receiver_credentials_read(struct receiver_credentials *ret_credentials, const char *receiver,
			      char *ret_why, size_t size);

/**
 * receiver_credentials_clear() - release what receiver_credentials_read() allocated
 * @credentials: zeroed
 */
void receiver_credentials_clear(struct receiver_credentials *credentials);

#endif
