/*
 * call.h - what every public function does first and last. In nearly all tasks that is one branch, not taken; else the
 * call takes the library's lock (lock.h) and is traced (trace.h):
 *
 *     int pvm_send(int tid, int tag)
 *     {
 *         PVMI_BEGIN(TEV_SEND, PVMI_INT(DST, tid), PVMI_INT(MC, tag), PVMI_INT(MCX, pvmmyctx));
 *         int rc = pvmi_return("pvm_send", send_active(tid, tag));
 *         PVMI_END(TEV_SEND, PVMI_INT(CC, rc));
 *         return rc;
 *     }
 *
 * Begin and end come in pairs in one scope; nothing returns between them. Public functions may call each other: only
 * the outermost is an event. Where a few instructions count (pvm_pkint, pvm_send), the pair is in a function of its
 * own, PVMI_COLD, that is called if pvmi_call_is_watched(): data in a frame cost registers even where they are not
 * made.
 */
#ifndef PVMI_CALL_H
#define PVMI_CALL_H

#include <stdbool.h>
#include <string.h>
#include <sys/single_threaded.h>
#include "pvmtev.h"

/* Why a call takes the slow path. */
enum {
    PVMI_WATCH_TRACE = 1,       /* events are wanted and have a destination: set by trace.c */
    PVMI_WATCH_THREADS = 2,     /* several threads may call: set by lock.c when glibc reports the second one */
    PVMI_WATCH_DESCRIPTORS = 4, /* the program has called pvm_getfds(): set by descriptors.c */
    PVMI_WATCH_JUMP = 8,        /* the program may have jumped out of a call that waits: set by jump.c */
    PVMI_WATCH_TIME = 16,       /* the program may live in virtual time: set by virtual.c */
    PVMI_WATCH_STREAM = 32,     /* a message leaves while it is packed: set by route/stream.c */
};

#ifndef PVMI_CALL_FROM_OUTSIDE /* libgpvm3 does not see the variable */
extern unsigned pvmi_call_watch __attribute__((visibility("hidden")));
#endif

/* One value of an event: an argument or a result. */
struct pvmi_datum {
    int id;           /* TEV_DID_... */
    int type;         /* TEV_DATA_..., | TEV_DATA_ARRAY for any number of them */
    const void *data; /* for strings the first character; of an array of strings, the first pointer */
    int count, stride;
};

#define PVMI_INT(did, value)                                                                                           \
    {                                                                                                                  \
        TEV_DID_##did, TEV_DATA_INT, &(int){value}, 1, 1                                                               \
    }
#define PVMI_LONG(did, value)                                                                                          \
    {                                                                                                                  \
        TEV_DID_##did, TEV_DATA_LONG, &(long){(long)(value)}, 1, 1                                                     \
    }
#define PVMI_STRING(did, text)                                                                                         \
    {                                                                                                                  \
        TEV_DID_##did, TEV_DATA_STRING, text, 1, 1                                                                     \
    }
#define PVMI_INTS(did, first, n)                                                                                       \
    {                                                                                                                  \
        TEV_DID_##did, TEV_DATA_INT | TEV_DATA_ARRAY, first, n, 1                                                      \
    }

#define PVMI_STRINGS(did, first, n)                                                                                    \
    {                                                                                                                  \
        TEV_DID_##did, TEV_DATA_STRING | TEV_DATA_ARRAY, first, n, 1                                                   \
    }

#define PVMI_COLD __attribute__((cold, noinline))

#define PVMI_UNTRACED (-1) /* in place of an event, for public functions that have none in pvmtev.h */

#define PVMI_DATA(...) (const struct pvmi_datum[]){__VA_ARGS__}, sizeof((struct pvmi_datum[]){__VA_ARGS__})

/*
 * The slow path. Enter takes the lock when threads are watched, and returns what is watched; pass that on. Begin and
 * end record an outermost call; `bytes` is the size of `data`. Data are evaluated with the lock held. Exported for
 * libgpvm3.
 */
unsigned pvmi_call_enter(void) __attribute__((cold));
void pvmi_call_begin(unsigned watched, int event, const struct pvmi_datum *data, size_t bytes) __attribute__((cold));
void pvmi_call_end(unsigned watched, int event, const struct pvmi_datum *data, size_t bytes) __attribute__((cold));

/*
 * Hooks: the tracer is called for outermost calls while PVMI_WATCH_TRACE is set, and pvmi_call_settle() runs at the end
 * of each while PVMI_WATCH_DESCRIPTORS is set. The module that sets the bit sets the hook.
 */
struct pvmi_call_tracer {
    void (*begin)(int event, const struct pvmi_datum *data, size_t bytes);
    void (*end)(int event, const struct pvmi_datum *data, size_t bytes);
};
extern const struct pvmi_call_tracer *pvmi_call_tracer;

/*
 * While PVMI_WATCH_TIME is set: the program stops (first of all) and goes on (last of all). pass() lets the time pass
 * that it has used, before the call does anything that may depend on the time.
 */
struct pvmi_call_clock {
    void (*stop)(void);
    void (*pass)(void);
    void (*go_on)(void);
};
extern const struct pvmi_call_clock *pvmi_call_clock;

extern void (*pvmi_call_settle)(void);

/* Called at the end of each outermost call while PVMI_WATCH_STREAM is set; it may wait in virtual time. */
extern void (*pvmi_call_flow)(void);

/* Around a message handler, whose calls count as the program's own. Step in with what step out returned. */
unsigned pvmi_call_step_out(void);
void pvmi_call_step_in(unsigned depth);

/* For jump.c: how many public functions this thread is in. */
unsigned pvmi_call_depth(void);
void pvmi_call_restore(unsigned depth);

#ifdef PVMI_CALL_FROM_OUTSIDE
#define PVMI_ENTER() pvmi_call_enter()
#else
static inline bool pvmi_call_is_watched(void)
{
    return __builtin_expect(__atomic_load_n(&pvmi_call_watch, __ATOMIC_RELAXED) | !__libc_single_threaded, 0);
}

#define PVMI_ENTER() (pvmi_call_is_watched() ? pvmi_call_enter() : 0)
#endif

#define PVMI_BEGIN(event, ...)                                                                                         \
    const unsigned pvmi_watched = PVMI_ENTER();                                                                        \
    if (__builtin_expect(pvmi_watched != 0, 0))                                                                        \
    pvmi_call_begin(pvmi_watched, event, PVMI_DATA(__VA_ARGS__))

#define PVMI_END(event, ...)                                                                                           \
    do {                                                                                                               \
        if (__builtin_expect(pvmi_watched != 0, 0))                                                                    \
            pvmi_call_end(pvmi_watched, event, PVMI_DATA(__VA_ARGS__));                                                \
    } while (0)

#endif
