/*
 * feed.h - the last bytes of the stream of changes. All readers share it; one that falls behind by more than it holds
 * has lost its place.
 */
#ifndef WEB_FEED_H
#define WEB_FEED_H

#include <stddef.h>
#include <stdint.h>

enum { FEED_BYTES = 8 << 20 };

struct feed {
    char *bytes;
    uint64_t end; /* position of the next byte */
};

void feed_append(struct feed *f, const char *bytes, size_t count);

/* Copies at most `room` bytes from `position` on. 0 at the end, -1 if they are lost or have never been. */
long feed_read(const struct feed *f, uint64_t position, char *to, size_t room);

#endif
