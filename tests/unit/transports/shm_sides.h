/* shm_sides.h - two ends of a shared-memory link in one process, for the tests of links. */
#ifndef TEST_SHM_SIDES_H
#define TEST_SHM_SIDES_H

#include "core/error.h"
#include "core/log.h"
#include "transports/shm/link.h"
#include "tests/unit/unit.h"

struct side {
    struct pvmt_transport *transport;
    struct pvmt_endpoint *ep;
    int done, down, reason;
    bool keep;
    struct pvmc_mem *kept[64];
    unsigned kept_count;
    uint8_t *place;
    size_t length; /* of the last frame */
};

extern const struct pvmt_transport_ops *ops;
extern struct side a, b;

/* Opens both transports and a link from a to b. */
void open_sides(void);

/* The same for a test. Each file has a log of its own. */
static inline void start(void)
{
    unit_log_start();
    open_sides();
}

/* Offers another link, and joins it. */
void meet(void);

/* Lets both sides do what is due. */
void drive(void);

/* Both sides leave the link. */
void part(void);

/* Closes the transports; no message memory may be left. */
void finish(void);

struct pvmt_shm_link *link_of(const struct side *s);

/* A frame, or a sent frame, whose bytes have this value. */
struct pvmc_frame *frame_make(uint32_t length, uint8_t value);
int send_bytes(struct side *s, uint32_t length, uint8_t value);

/* How often memory of that name is mapped in this process. */
unsigned mappings_of(const char *name);

#endif
