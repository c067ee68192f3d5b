/* mailbox.c - the machine's mailbox: names, put. */
#include <stdlib.h>
#include "core/visible.h"
#include "console/console.h"
#include "console/command.h"

static json_t *class_json(const struct pvmmboxinfo *class)
{
    json_t *entries = json_array();

    for (int i = 0; i < class->mi_nentries; i++)
        json_array_append_new(entries, json_pack("{s:i, s:o, s:i}", "index", class->mi_indices[i], "owner",
                                                 class->mi_owners[i] != 0 ? json_tid(class->mi_owners[i]) : json_null(),
                                                 "flags", class->mi_flags[i]));
    return json_pack("{s:o, s:o}", "name", text_json(class->mi_name), "entries", entries);
}

static void print_class(const struct pvmmboxinfo *class)
{
    printf("<%s>:\n", PVMC_VISIBLE(class->mi_name));
    for (int i = 0; i < class->mi_nentries; i++)
        printf("\tindex=%d owner=0x%x/%d flags=0x%x\n", class->mi_indices[i], (unsigned)class->mi_owners[i],
               class->mi_owners[i], (unsigned)class->mi_flags[i]);
    printf("\n");
}

int mailbox_names(int argc, char **argv)
{
    struct pvmmboxinfo *classes = NULL;
    json_t *rows;
    int count = 0;
    int code = pvm_getmboxinfo(argc > 1 ? argv[1] : "*", &count, &classes);

    if (code < 0) {
        advise("names: %s", error_text(code));
        return CONSOLE_FAILED;
    }
    if (!console.json) {
        for (int i = 0; i < count; i++)
            print_class(&classes[i]);
        return CONSOLE_OK;
    }
    rows = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(rows, class_json(&classes[i]));
    print_json(json_pack("{s:o}", "names", rows));
    return CONSOLE_OK;
}

int mailbox_put(int argc, char **argv)
{
    int flags, value = 0;

    if (!parse_number("put", argv[2], &flags) || (argc > 3 && !parse_number("put", argv[3], &value)))
        return CONSOLE_FAILED;
    int buffer = pvm_mkbuf(PvmDataDefault);
    int active = pvm_setsbuf(buffer);
    pvm_pkint(&value, 1, 1);
    int code = pvm_putinfo(argv[1], buffer, flags);
    pvm_setsbuf(active);
    pvm_freebuf(buffer);
    if (code < 0) {
        advise("put: %s: %s%s", argv[1], error_text(code),
               code == PvmDenied ? "; another task owns this entry: choose another name, or add 2 (several entries) or "
                                   "let its owner add 4 (may be overwritten) to the flags"
                                 : "");
        return CONSOLE_FAILED;
    }
    return CONSOLE_OK;
}
