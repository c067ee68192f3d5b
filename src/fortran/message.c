/*
 * Messages: receiving with a time limit, packed messages, headers.
 */
#include "fortran.h"

int fpvm_trecv(int tid, int tag, int s, int us)
{
    struct timeval limit = {.tv_sec = s, .tv_usec = us};

    return pvm_trecv(tid, tag, s == -1 ? NULL : &limit);
}

int fpvm_upkmesg(int mid)
{
    int code = mid ? pvm_setrbuf(mid) : 0;

    return code < 0 ? code : pvm_upkmesg();
}

int fpvm_getminfo(int mid, int *len, int *ctx, int *tag, int *wid, int *enc, int *crc, int *src, int *dst)
{
    struct pvmminfo header;
    int code = pvm_getminfo(mid, &header);

    if (code < 0)
        return code;
    *len = header.len;
    *ctx = header.ctx;
    *tag = header.tag;
    *wid = header.wid;
    *enc = header.enc;
    *crc = header.crc;
    *src = header.src;
    *dst = header.dst;
    return code;
}

int fpvm_setminfo(int mid, int ctx, int tag, int wid, int src, int dst)
{
    struct pvmminfo header = {.ctx = ctx, .tag = tag, .wid = wid, .src = src, .dst = dst};

    return pvm_setminfo(mid, &header);
}
