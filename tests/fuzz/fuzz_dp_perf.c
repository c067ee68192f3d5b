/* fuzz_dp_perf.c - dp-perf's orders and answers, which any host on the network may send: no crash, and limits hold. */
#include "fuzz.h"
#include <string.h>
#include "dp/src/tools/dp-perf/order.h"

static uint8_t sent[256];
static int sent_bytes;

/* Replaces libdp's function and stores the sent message. */
int dp_write(int fd, const void *message, int bytes)
{
    (void)fd;
    MUST(bytes > 0 && bytes <= (int)sizeof sent);
    memcpy(sent, message, (size_t)bytes);
    return sent_bytes = bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct order order, again;
    struct answer answer;
    if (order_parse(data, size, &order) == 0) {
        MUST(order.carrier < CARRIERS && order.bytes <= MESSAGE_BYTES_MAX && order.count <= COUNT_MAX);
        MUST(order.exercise >= EXERCISE_ECHO && order.exercise <= EXERCISE_COMPUTE && order.turns <= TURNS_MAX);
        MUST(order_send(0, &order) == 0 && order_parse(sent, (size_t)sent_bytes, &again) == 0);
        MUST(again.id == order.id && again.count == order.count && again.place.dpid == order.place.dpid);
    }
    if (answer_parse(data, size, &answer) == 0)
        MUST(answer.error >= 0 && answer.figure_us >= 0);
    return 0;
}
