/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Read credentials, which systemd passes as files in $CREDENTIALS_DIRECTORY. */
#ifndef SPEPROF_CREDENTIALS_H
#define SPEPROF_CREDENTIALS_H

#include "codec/env.h"

/* entries of &receiver_credentials.headers */
#define CREDENTIALS_HEADERS 16

/**
 * credential_read() - read the credential speprof-exporter.@name
 * @name: name without the prefix, such as "token"
 * @ret_text: allocated, without white space at its end; NULL if there is no such credential
 *
 * Return: 0, also if there is none; -EBADMSG if it is empty, longer than 64 KiB or contains a NUL;
 * -ENAMETOOLONG if the path does not fit; -ENOMEM if memory cannot be allocated; or the negative
 * errno of opening the file.
 */
int credential_read(const char *name, char **ret_text);

/**
 * credential_is_one_line() - check that a text has no control character
 * @text: the value of a header, or a token, which becomes a part of a header
 *
 * A control character such as a line feed would end the header and begin another one.
 *
 * Return: true if it has none.
 */
bool credential_is_one_line(const char *text);

/**
 * struct receiver_credentials - what authorizes the exporter at one receiver
 * @token: sent as "Authorization: Bearer"; NULL: none
 * @text: text of the credential to which @headers point; NULL: none
 * @headers: headers of the form "Name: value"
 * @header_count: number of @headers, 0 to CREDENTIALS_HEADERS
 * @certificate: path of the client's certificate; "": none
 * @key: path of the certificate's key; "": none
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
 * receiver_credentials_read() - read the credentials @receiver-token, -headers, -certificate and
 * -key
 * @ret_credentials: to be released by receiver_credentials_clear(), also on failure
 * @receiver: "remote-write", "otlp" or "profiles"
 * @ret_why: on failure, one line: which credential is wrong, and what is accepted
 * @size: bytes of @ret_why
 *
 * Each credential is optional, but a certificate needs its key.
 *
 * Return: 0; -EINVAL if a credential is wrong.
 */
int receiver_credentials_read(struct receiver_credentials *ret_credentials, const char *receiver,
			      char *ret_why, size_t size);

/**
 * receiver_credentials_clear() - free the memory that receiver_credentials_read() allocated
 * @credentials: set to zero
 */
void receiver_credentials_clear(struct receiver_credentials *credentials);

#endif
