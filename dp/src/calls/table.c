/* table.c - descriptors and their endpoints. */
#include "table.h"
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>
#include "../core/error.h"
#include "endpoint.h"
#include "open.h"

static struct pvmi_endpoint *table[PVMI_TABLE_MAX];
static int end; /* one past the last that ever was used */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct pvmi_endpoint *pvmi_endpoint_of(int fd)
{
    struct pvmi_endpoint *e = (unsigned)fd < PVMI_TABLE_MAX ? __atomic_load_n(&table[fd], __ATOMIC_ACQUIRE) : NULL;
    if (__builtin_expect(!e, 0))
        errno = EBADF;
    return e;
}

static void lock_table(void)
{
    pthread_mutex_lock(&lock);
}

static void unlock_table(void)
{
    pthread_mutex_unlock(&lock);
}

/* Memory stays as it is: another thread may have been in the middle of malloc(). */
static void leave_to_parent(void)
{
    for (int fd = 0; fd < end; fd++)
        if (table[fd]) {
            pvmi_open_abandon(table[fd]);
            table[fd] = NULL;
        }
    unlock_table();
}

int pvmi_table_put(struct pvmi_endpoint *e)
{
    static bool watching;
    if (e->fd >= PVMI_TABLE_MAX)
        return PVMI_ELIMIT;
    lock_table();
    if (!watching)
        watching = pthread_atfork(lock_table, unlock_table, leave_to_parent) == 0;
    struct pvmi_endpoint *stale = table[e->fd]; /* closed by close(2) */
    __atomic_store_n(&table[e->fd], e, __ATOMIC_RELEASE);
    end = e->fd >= end ? e->fd + 1 : end;
    unlock_table();
    if (stale) {
        stale->fd = -1;
        pvmi_open_undo(stale);
    }
    return 0;
}

struct pvmi_endpoint *pvmi_table_take(int fd)
{
    struct pvmi_endpoint *e = pvmi_endpoint_of(fd);
    if (!e)
        return NULL;
    lock_table();
    __atomic_store_n(&table[fd], NULL, __ATOMIC_RELEASE);
    unlock_table();
    return e;
}
