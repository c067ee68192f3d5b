/* host.c - see host.h. */
#include "host.h"
#include <endian.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/log.h"

void pvmw_host_identity(uint8_t host[PVMW_HOST_IDENTITY_BYTES])
{
    char text[64] = "";
    struct stat about;
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    memset(host, 0, PVMW_HOST_IDENTITY_BYTES);
    unsigned have = 0;
    for (const char *c = text; n > 0 && *c && have < 16; c++) {
        unsigned byte;
        if (*c != '-' && sscanf(c, "%2x", &byte) == 1) {
            host[have++] = (uint8_t)byte;
            c++;
        }
    }
    if (have == 16 && !stat("/proc/self/ns/net", &about)) {
        uint64_t number = htole64(about.st_ino);
        memcpy(host + 16, &number, sizeof number);
    } else if (getrandom(host, PVMW_HOST_IDENTITY_BYTES, 0) < 0) {
        pvmc_log(PVMC_LOG_INFO, "no identity of this host: its tasks do not use loopback addresses");
    }
}
