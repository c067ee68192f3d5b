/* feed.c - see feed.h. */
#include "feed.h"
#include <stdlib.h>
#include <string.h>

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

void feed_append(struct feed *f, const char *bytes, size_t count)
{
    if (f->bytes == NULL && (f->bytes = malloc(FEED_BYTES)) == NULL)
        return;
    while (count > 0) {
        size_t at = f->end % FEED_BYTES, part = least(count, FEED_BYTES - at);
        memcpy(f->bytes + at, bytes, part);
        f->end += part;
        bytes += part;
        count -= part;
    }
}

long feed_read(const struct feed *f, uint64_t position, char *to, size_t room)
{
    if (position > f->end || f->end - position > FEED_BYTES)
        return -1;
    size_t at = position % FEED_BYTES;
    size_t part = least(least(room, FEED_BYTES - at), (size_t)(f->end - position));
    if (part > 0)
        memcpy(to, f->bytes + at, part);
    return (long)part;
}
