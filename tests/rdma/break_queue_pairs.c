/*
 * break_queue_pairs - preloaded into a program (LD_PRELOAD), it forces each queue pair into the error state
 * RDMA_BREAK_MS after it became ready to send, as a fault of the device or its cable does at any moment.
 */
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

enum { PAIRS_MAX = 256 };

static struct {
    struct ibv_qp *qp;
    int64_t due_ms;
} pairs[PAIRS_MAX];

static pthread_mutex_t lock =
    PTHREAD_MUTEX_INITIALIZER; /* a queue pair must not be destroyed while it is being broken */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int (*real_modify)(struct ibv_qp *, struct ibv_qp_attr *, int);
static int (*real_destroy)(struct ibv_qp *);
static int64_t break_ms;

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void break_due(void)
{
    struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};
    int64_t now = now_ms();
    pthread_mutex_lock(&lock);
    for (int i = 0; i < PAIRS_MAX; i++)
        if (pairs[i].qp && pairs[i].due_ms <= now) {
            real_modify(pairs[i].qp, &error, IBV_QP_STATE);
            pairs[i].qp = NULL;
        }
    pthread_mutex_unlock(&lock);
}

static void *watch(void *arg)
{
    for (struct timespec pause = {0, 10000000};; nanosleep(&pause, NULL))
        break_due();
    return arg;
}

static void start(void)
{
    pthread_t thread;
    const char *text = getenv("RDMA_BREAK_MS");
    break_ms = text ? atoi(text) : 100;
    real_modify = (int (*)(struct ibv_qp *, struct ibv_qp_attr *, int))dlsym(RTLD_NEXT, "ibv_modify_qp");
    real_destroy = (int (*)(struct ibv_qp *))dlsym(RTLD_NEXT, "ibv_destroy_qp");
    if (!real_modify || !real_destroy || pthread_create(&thread, NULL, watch, NULL))
        abort();
    pthread_detach(thread);
}

__attribute__((visibility("default"))) int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
    pthread_once(&once, start);
    int rc = real_modify(qp, attr, mask);
    if (rc || !(mask & IBV_QP_STATE) || attr->qp_state != IBV_QPS_RTS)
        return rc;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < PAIRS_MAX; i++)
        if (!pairs[i].qp) {
            pairs[i].qp = qp;
            pairs[i].due_ms = now_ms() + break_ms;
            break;
        }
    pthread_mutex_unlock(&lock);
    return 0;
}

__attribute__((visibility("default"))) int ibv_destroy_qp(struct ibv_qp *qp)
{
    pthread_once(&once, start);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < PAIRS_MAX; i++)
        if (pairs[i].qp == qp)
            pairs[i].qp = NULL;
    pthread_mutex_unlock(&lock);
    return real_destroy(qp);
}
