/*
 * wrap.h - what the program of a task is started under: the debugger script for PvmTaskDebug, else PVM_WRAP, a command
 * such as "valgrind -q". That is a carried setting: what `pvm run --wrap` sets for the tasks that it starts holds for
 * all that they start.
 */
#ifndef PVMD_WRAP_H
#define PVMD_WRAP_H

#include <stddef.h>
#include "order.h"

/*
 * The words that go before the program of `order`; the first is a full path. `setting` is PVM_WRAP for its tasks, or
 * NULL. PvmOk, also with no words at all, PvmNoMem, or PvmNoFile if what it names is not there (logged). In all cases
 * the list and its texts belong to the caller.
 */
int pvmd_wrap_find(const struct pvmd_order *order, const char *setting, char ***words, size_t *count);

#endif
