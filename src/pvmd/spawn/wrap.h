/*
 * wrap.h - the command under which a task's program is started: the debugger script for PvmTaskDebug, else PVM_WRAP,
 * for example "valgrind -q". Tasks hand PVM_WRAP on, so `pvm run --wrap` holds for all tasks that its tasks start.
 */
#ifndef PVMD_WRAP_H
#define PVMD_WRAP_H

#include <stddef.h>
#include "order.h"
#include "why.h"

/*
 * Finds the words that go before the program of `order`; the first is a full path. `setting` is PVM_WRAP for its tasks,
 * or NULL. Returns PvmOk, also for no words at all, PvmNoMem, or PvmNoFile and why if the command does not exist. The
 * list and its texts belong to the caller in all cases.
 */
int pvmd_wrap_find(const struct pvmd_order *order, const char *setting, char ***words, size_t *count,
                   struct pvmd_why *why);

#endif
