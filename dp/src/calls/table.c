/* table.c - maps descriptors to endpoints. */
#include "table.h"
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>
#include "core/error.h"
#include "net/endpoint.h"
#include "open.h"

static struct dpi_endpoint *table[DPI_TABLE_MAX];
static int end; /* one past the highest descriptor that was ever used */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct dpi_endpoint *dpi_endpoint_of(int fd)
{
    struct dpi_endpoint *e = (unsigned)fd < DPI_TABLE_MAX ? __atomic_load_n(&table[fd], __ATOMIC_ACQUIRE) : NULL;
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

/* Memory is not freed: another thread may have been in malloc() when the process forked. */
static void leave_to_parent(void)
{
    for (int fd = 0; fd < end; fd++)
        if (table[fd]) {
            dpi_open_abandon(table[fd]);
            table[fd] = NULL;
        }
    unlock_table();
}

int dpi_table_put(struct dpi_endpoint *e)
{
    static bool watching;
    if (e->fd >= DPI_TABLE_MAX)
        return PVMC_ELIMIT;
    lock_table();
    if (!watching)
        watching = pthread_atfork(lock_table, unlock_table, leave_to_parent) == 0;
    struct dpi_endpoint *stale = table[e->fd]; /* the user closed it with close(2) */
    __atomic_store_n(&table[e->fd], e, __ATOMIC_RELEASE);
    end = e->fd >= end ? e->fd + 1 : end;
    unlock_table();
    if (stale) {
        stale->fd = -1;
        dpi_open_undo(stale);
    }
    return 0;
}

struct dpi_endpoint *dpi_table_take(int fd)
{
    struct dpi_endpoint *e = dpi_endpoint_of(fd);
    if (!e)
        return NULL;
    lock_table();
    __atomic_store_n(&table[fd], NULL, __ATOMIC_RELEASE);
    unlock_table();
    return e;
}
