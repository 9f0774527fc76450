/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The token of the exporter's page, which "speprof page" prints and speprof-exporter checks. */
#ifndef SPEPROF_PAGE_TOKEN_H
#define SPEPROF_PAGE_TOKEN_H

#include <string.h>

#include "codec/env.h"

/* minimum and maximum characters; a client that guesses cannot try 62^16 tokens */
#define PAGE_TOKEN_MIN 16
#define PAGE_TOKEN_MAX 1024

/* what page_token_is_valid() accepts, for messages */
#define PAGE_TOKEN_RULE "16 to 1024 letters, digits and characters of -._~+/="

/**
 * page_token_is_valid() - check that a text can be a token
 * @text: without white space around it
 *
 * Only these characters can be a part of a URL's fragment, and of an Authorization header
 * (RFC 6750, 2.1), without encoding.
 *
 * Return: true if it has PAGE_TOKEN_MIN to PAGE_TOKEN_MAX characters, all of them permitted.
 */
static inline bool page_token_is_valid(const char *text)
{
	size_t size = strlen(text);

	return size >= PAGE_TOKEN_MIN && size <= PAGE_TOKEN_MAX &&
	       strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
			    "-._~+/=") == size;
}

#endif
