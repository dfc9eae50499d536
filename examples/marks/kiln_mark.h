/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Marks of a program in a recording of kiln trace, among the events of the
 * kernel. A mark is in the kernel when kiln_mark() returns: it stays if the
 * program is killed. It costs a write(2). Without a recording nothing is done.
 */
#ifndef KILN_MARK_H
#define KILN_MARK_H

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The longest mark with its end, in bytes. */
#define KILN_MARK_MAX 1024

__attribute__((format(printf, 1, 2)))
static inline void kiln_mark(const char *format, ...)
{
	static int marker = -2;
	char text[KILN_MARK_MAX];
	va_list arguments;
	int length;

	if (marker == -2) {
		const char *path = getenv("KILN_TRACE_MARKER");

		marker = path ? open(path, O_WRONLY | O_CLOEXEC) : -1;
	}
	if (marker < 0)
		return;
	va_start(arguments, format);
	length = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (length >= (int)sizeof(text))
		length = sizeof(text) - 1;
	/* A recording may be over: the program goes on. */
	if (length > 0 && write(marker, text, length) < 0)
		return;
}

#endif
