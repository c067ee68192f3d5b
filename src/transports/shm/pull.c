/* pull.c - copying from one process to another without a stop in between: process_vm_readv(). */
#include <sys/uio.h>
#include "link.h"

bool pvmi_shm_pull(pid_t pid, uint8_t *to, size_t length, const struct iovec *remote, unsigned count)
{
    struct iovec left[PVMI_FRAME_PIECES_MAX];
    unsigned first = 0;
    for (unsigned i = 0; i < count; i++)
        left[i] = remote[i];
    while (length) {
        struct iovec local = {to, length};
        ssize_t n = process_vm_readv(pid, &local, 1, left + first, count - first, 0);
        if (n <= 0)
            return false;
        to += n;
        length -= (size_t)n;
        for (; first < count && (size_t)n >= left[first].iov_len; first++)
            n -= (ssize_t)left[first].iov_len;
        if (first < count) {
            left[first].iov_base = (uint8_t *)left[first].iov_base + n;
            left[first].iov_len -= (size_t)n;
        }
    }
    return true;
}

bool pvmi_shm_pull_probe(pid_t pid, uint64_t address, uint64_t nonce)
{
    uint64_t found;
    struct iovec remote = {(void *)(uintptr_t)address, sizeof found};
    return pid > 0 && pvmi_shm_pull(pid, (uint8_t *)&found, sizeof found, &remote, 1) && found == nonce;
}
