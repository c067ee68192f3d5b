/* lock.c - the one lock of the library. */
#include "lock.h"
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void pvmi_lock_take(void)
{
    pthread_mutex_lock(&lock);
}

void pvmi_lock_give(void)
{
    pthread_mutex_unlock(&lock);
}
