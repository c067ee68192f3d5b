/*
 * layout.c - prints the size and the members of every public structure, the values of all public constants, and what
 * the macros with arguments give. Compiled with the headers of Debian's PVM and with ours, it must print the same.
 * constants.inc is made by `constants` from Debian's headers.
 */
#include <stddef.h>
#include <stdio.h>
#include <pvm3.h>
#include <pvmproto.h>
#include <pvmtev.h>

#define STRUCT(type) printf("struct %s: %zu bytes, aligned to %zu\n", #type, sizeof(struct type), _Alignof(struct type))
#define MEMBER(type, member)                                                                                           \
    printf("  %s at %zu, %zu bytes\n", #member, offsetof(struct type, member), sizeof(((struct type *)0)->member))
#define NUMBER(expression) print_number(#expression, sizeof(expression), (long long)(expression))

static void print_number(const char *name, size_t size, long long value)
{
    printf("%s = %lld (%zu bytes)\n", name, value, size);
}

static void print_text(const char *name, const char *value)
{
    printf("%s = \"%s\"\n", name, value);
}

/* Constants are numbers or strings; what is not of the kind chosen becomes a null pointer or 0, and is not used. */
#define CONSTANT(name)                                                                                                 \
    _Generic((name), char *                                                                                            \
             : print_text(#name, _Generic((name), char * : (name), default : "")), default                            \
             : print_number(#name, sizeof(name), _Generic((name), char * : 0, default : (name))))

static void print_structures(void)
{
    STRUCT(pvmhostinfo);
    MEMBER(pvmhostinfo, hi_tid);
    MEMBER(pvmhostinfo, hi_name);
    MEMBER(pvmhostinfo, hi_arch);
    MEMBER(pvmhostinfo, hi_speed);
    MEMBER(pvmhostinfo, hi_dsig);
    STRUCT(pvmtaskinfo);
    MEMBER(pvmtaskinfo, ti_tid);
    MEMBER(pvmtaskinfo, ti_ptid);
    MEMBER(pvmtaskinfo, ti_host);
    MEMBER(pvmtaskinfo, ti_flag);
    MEMBER(pvmtaskinfo, ti_a_out);
    MEMBER(pvmtaskinfo, ti_pid);
    STRUCT(pvmminfo);
    MEMBER(pvmminfo, len);
    MEMBER(pvmminfo, ctx);
    MEMBER(pvmminfo, tag);
    MEMBER(pvmminfo, wid);
    MEMBER(pvmminfo, enc);
    MEMBER(pvmminfo, crc);
    MEMBER(pvmminfo, src);
    MEMBER(pvmminfo, dst);
    STRUCT(pvmmboxinfo);
    MEMBER(pvmmboxinfo, mi_name);
    MEMBER(pvmmboxinfo, mi_nentries);
    MEMBER(pvmmboxinfo, mi_indices);
    MEMBER(pvmmboxinfo, mi_owners);
    MEMBER(pvmmboxinfo, mi_flags);
}

static void print_trace_structures(void)
{
    STRUCT(Pvmtevdid);
    MEMBER(Pvmtevdid, did);
    MEMBER(Pvmtevdid, desc);
    STRUCT(Pvmtevinfo);
    MEMBER(Pvmtevinfo, name);
    MEMBER(Pvmtevinfo, desc_status);
    MEMBER(Pvmtevinfo, mark);
    MEMBER(Pvmtevinfo, total);
    MEMBER(Pvmtevinfo, count);
    STRUCT(Pvmtracer);
    MEMBER(Pvmtracer, trctid);
    MEMBER(Pvmtracer, trcctx);
    MEMBER(Pvmtracer, trctag);
    MEMBER(Pvmtracer, outtid);
    MEMBER(Pvmtracer, outctx);
    MEMBER(Pvmtracer, outtag);
    MEMBER(Pvmtracer, trcbuf);
    MEMBER(Pvmtracer, trcopt);
    MEMBER(Pvmtracer, tmask);
    printf("Pvmtmask: %zu bytes\n", sizeof(Pvmtmask));
}

static void print_macros(void)
{
    static const int indices[] = {0, 1, 77, (1 << 21) - 1};
    for (unsigned i = 0; i < sizeof indices / sizeof indices[0]; i++) {
        NUMBER(PvmMboxDirectIndex(indices[i]));
        NUMBER(PvmMboxDirectIndexOf(indices[i] << PvmMboxDirectIndexShift | PvmMboxPersistent));
    }
    Pvmtmask mask;
    TEV_MASK_INIT(mask);
    print_text("TEV_MASK_INIT", mask);
    for (int event = TEV_FIRST; event <= TEV_MAX; event += 3)
        TEV_MASK_SET(mask, event);
    print_text("TEV_MASK_SET", mask);
    for (int event = TEV_FIRST; event <= TEV_MAX; event += 5)
        TEV_MASK_UNSET(mask, event);
    print_text("TEV_MASK_UNSET", mask);
    for (int event = TEV_FIRST; event <= TEV_MAX; event++)
        printf("%d", TEV_MASK_CHECK(mask, event) != 0);
    printf("\n");
}

static void print_constants(void)
{
#include "constants.inc"
}

int main(void)
{
    print_structures();
    print_trace_structures();
    print_macros();
    print_constants();
    return 0;
}
