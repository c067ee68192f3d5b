"""The Python side of talk.c: echoes every message, value by value."""

import array

import dpvm


def main():
    with dpvm.machine(start=False) as vm:
        m = vm.receive(vm.parent, 1)
        p = vm.packer()
        p.pkint(m.upkint()).pkint(m.upkint(3)).pkdouble(m.upkdouble()).pkstr(m.upkstr()).pkbyte(m.upkbyte(4))
        p.pkshort(m.upkshort(2)).pklong(m.upklong()).pkfloat(m.upkfloat(2)).pkcplx(m.upkcplx()).pkdcplx(m.upkdcplx(2))
        p.pkushort(m.upkushort()).pkuint(m.upkuint()).pkulong(m.upkulong())
        p.send(vm.parent, 2)
        numbers = array.array("d", bytes(8 * 1000))
        vm.recv_into(numbers, vm.parent, 3)
        for i in range(len(numbers)):
            numbers[i] += 1
        vm.psend(vm.parent, 4, numbers)


if __name__ == "__main__":
    main()
