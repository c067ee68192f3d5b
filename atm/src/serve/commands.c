/* commands.c - see commands.h. */
#include "commands.h"
#include <stdlib.h>
#include <string.h>
#include "base/sim.h"

static struct pvma_command *take_out(struct pvma_commands *q, struct pvma_command **at)
{
    struct pvma_command *command = *at;
    *at = command->next;
    if (!*at)
        q->tail = at;
    q->bytes -= command->bytes;
    return command;
}

void pvma_commands_init(struct pvma_commands *q)
{
    *q = (struct pvma_commands){.tail = &q->first};
}

void pvma_commands_put(struct pvma_commands *q, const struct pvma_fore_message *m)
{
    size_t bytes = sizeof(struct pvma_command) + m->length;
    struct pvma_command *command = pvma_new(bytes);
    command->bytes = bytes;
    command->message = *m;
    command->next = NULL;
    if (m->length)
        memcpy(command + 1, m->data, m->length);
    command->message.data = (const uint8_t *)(command + 1);
    *q->tail = command;
    q->tail = &command->next;
    q->bytes += command->bytes;
}

void pvma_commands_pop(struct pvma_commands *q)
{
    free(take_out(q, &q->first));
}

int64_t pvma_commands_drop_wait(struct pvma_commands *q, uint32_t number)
{
    struct pvma_command **at = &q->first;
    while (*at && ((*at)->message.type != PVMA_FORE_WAIT || (*at)->message.number != number))
        at = &(*at)->next;
    if (!*at)
        return -1;
    struct pvma_command *wait = take_out(q, at);
    int64_t cost_ns = wait->message.cost_ns;
    free(wait);
    return cost_ns;
}

void pvma_commands_free(struct pvma_commands *q)
{
    while (q->first)
        pvma_commands_pop(q);
}
