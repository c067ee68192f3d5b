/* commands.h - the commands of one client that are not carried out yet, in order. */
#ifndef PVMA_COMMANDS_H
#define PVMA_COMMANDS_H

#include "fore/message.h"

struct pvma_command {
    struct pvma_fore_message message; /* its data follow this struct; the answer is written over it */
    size_t bytes;                     /* of memory */
    struct pvma_command *next;
};

struct pvma_commands {
    struct pvma_command *first, **tail;
    size_t bytes; /* of all */
};

void pvma_commands_init(struct pvma_commands *q);

/* Appends a copy of the message and of its data. */
void pvma_commands_put(struct pvma_commands *q, const struct pvma_fore_message *m);

/* Removes the first one. */
void pvma_commands_pop(struct pvma_commands *q);

/* Removes the WAIT of that number. Returns its cost, or -1: there is none. */
int64_t pvma_commands_drop_wait(struct pvma_commands *q, uint32_t number);

void pvma_commands_free(struct pvma_commands *q);

#endif
