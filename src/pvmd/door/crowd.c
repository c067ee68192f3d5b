/* crowd.c - see crowd.h. */
#include "crowd.h"
#include <endian.h>
#include <string.h>

#define BUCKET_BITS 14

_Static_assert(PVMD_CROWD_BUCKETS == 1 << BUCKET_BITS, "buckets are numbered by BUCKET_BITS bits");

uint64_t pvmd_crowd_source(const union pvmw_address *a)
{
    uint64_t prefix;
    if (a->any.sa_family == AF_INET)
        return be32toh(a->v4.sin_addr.s_addr);
    memcpy(&prefix, &a->v6.sin6_addr, sizeof prefix);
    return be64toh(prefix);
}

/* Multiplying by a random odd number and taking the upper bits is a universal hash. */
static unsigned bucket_of(const struct pvmd_crowd *c, uint64_t source)
{
    return (unsigned)(source * c->multiplier >> (64 - BUCKET_BITS));
}

/* One source may take half of the places. */
static unsigned source_max(const struct pvmd_crowd *c)
{
    return c->max / 2;
}

static bool is_pressed(unsigned count, unsigned max)
{
    return count >= max / 2;
}

/*
 * Random early drop: admits everybody while half of the places are free, then fewer and fewer, and nobody when none is.
 */
static bool is_drawn(unsigned count, unsigned max, uint32_t random)
{
    return !is_pressed(count, max) || (count < max && random % (max - max / 2) >= count - max / 2);
}

bool pvmd_crowd_admit(struct pvmd_crowd *c, uint64_t source, uint32_t random)
{
    uint16_t *of_source = &c->of_bucket[bucket_of(c, source)];
    if (!is_drawn(c->count, c->max, random & 0xffff) || !is_drawn(*of_source, source_max(c), random >> 16))
        return false;
    c->count++;
    ++*of_source;
    return true;
}

void pvmd_crowd_leave(struct pvmd_crowd *c, uint64_t source)
{
    c->count--;
    c->of_bucket[bucket_of(c, source)]--;
}

bool pvmd_crowd_is_pressed(const struct pvmd_crowd *c, uint64_t source)
{
    return is_pressed(c->count, c->max) || is_pressed(c->of_bucket[bucket_of(c, source)], source_max(c));
}
