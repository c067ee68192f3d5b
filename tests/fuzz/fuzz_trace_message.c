/* fuzz_trace_message.c - pvm-trace's collector: event messages from malicious tasks. */
#include <stdlib.h>
#include "tools/pvm-trace/message.h"
#include "tools/pvm-trace/record.h"
#include "message.h"
#include "pvm3.h"

enum { SENDER = 0x40001 };

/* An accepted event can be written to the file. */
static void take(const struct event *e, void *arg)
{
    (void)e;
    record_event(arg, e);
}

/* Each message is preceded by a byte with its length; bit 0 of the first byte selects several messages. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static FILE *file;
    struct fuzz_input in = {data, size};
    if (!file)
        file = fopen("/dev/null", "w");
    struct message_layouts *layouts = message_layouts_new();
    bool several = fuzz_byte(&in) & 1;
    while (in.left) {
        size_t length = several ? fuzz_byte(&in) : in.left;
        if (length > in.left)
            length = in.left;
        fuzz_receive(SENDER, 1, in.data, length);
        message_read(layouts, SENDER, take, file);
        in.data += length;
        in.left -= length;
    }
    fuzz_receive_end();
    message_layouts_free(layouts);
    return 0;
}
