c     Runs with the reference and with dpvm, and must print the same:
c     data of all kinds in all encodings, names with blanks, lists that
c     go on with each call, groups, contexts, handlers and errors.
      program both
      implicit none
      include 'fpvm3.h'
      integer tid, info, parent
      call pvmfsetopt(PVMAUTOERR, 0, info)
      call pvmfmytid(tid)
      call pvmfparent(parent)
      if (parent .gt. 0) then
         call child(parent)
         stop
      endif
      call kinds(tid, PVMDATADEFAULT)
      call kinds(tid, PVMDATARAW)
      call kinds(tid, PVMDATAINPLACE)
      call texts
      call lists(tid)
      call children(tid)
      call groups(tid)
      call handlers(tid)
      call mistakes(tid)
      call pvmfexit(info)
      print *, 'exit', info
      end

      subroutine kinds(tid, encoding)
      implicit none
      include 'fpvm3.h'
      integer tid, encoding, info, buf, n, tag, src
      character*12 s, s2
      integer*1 b(6), b2(6)
      integer*2 h(6), h2(6)
      integer*4 i(6), i2(6)
      integer*8 l(6), l2(6)
      real*4 r(6), r2(6)
      real*8 d(6), d2(6)
      complex*8 c(6), c2(6)
      complex*16 z(6), z2(6)
      integer k, two, three
c     in place, the reference packs no strides
      two = 2
      three = 3
      if (encoding .eq. PVMDATAINPLACE) two = 1
      if (encoding .eq. PVMDATAINPLACE) three = 1
      do 10 k = 1, 6
         b(k) = int(-3 * k, 1)
         h(k) = int(-3000 * k, 2)
         i(k) = -300000000 * k
         l(k) = 300000000_8 * k
         r(k) = 0.5 * k
         d(k) = -1.25d100 * k
         c(k) = cmplx(k, -k)
         z(k) = dcmplx(k, 0.1d0 * k)
         b2(k) = 0
         h2(k) = 0
         i2(k) = 0
         l2(k) = 0
         r2(k) = 0
         d2(k) = 0
         c2(k) = 0
         z2(k) = 0
 10   continue
      s = 'abcdefghijkl'
      s2 = '............'
      call pvmfinitsend(encoding, buf)
      call pvmfpack(STRING, s, 5, two, info)
      print *, encoding, 'packed', info
      call pvmfpack(BYTE1, b, 3, two, info)
      call pvmfpack(INTEGER2, h, 6, 1, info)
      call pvmfpack(INTEGER4, i, 2, three, info)
      call pvmfpack(INTEGER8, l, 6, 1, info)
      call pvmfpack(REAL4, r, 6, 1, info)
      call pvmfpack(REAL8, d, 3, two, info)
      call pvmfpack(COMPLEX8, c, 2, three, info)
      call pvmfpack(COMPLEX16, z, 3, two, info)
      print *, 'packed', info
      call pvmfsend(tid, 11, info)
      call pvmfrecv(tid, 11, buf)
      call pvmfbufinfo(buf, n, tag, src, info)
      print *, 'received', tag, src .eq. tid, info
      call pvmfunpack(STRING, s2, 5, 1, info)
      call pvmfunpack(BYTE1, b2, 3, 1, info)
      call pvmfunpack(INTEGER2, h2, 3, 2, info)
      call pvmfunpack(INTEGER2, h2(2), 3, 2, info)
      call pvmfunpack(INTEGER4, i2, 2, 1, info)
      call pvmfunpack(INTEGER8, l2, 6, 1, info)
      call pvmfunpack(REAL4, r2, 6, 1, info)
      call pvmfunpack(REAL8, d2, 3, 1, info)
      call pvmfunpack(COMPLEX8, c2, 2, 1, info)
      call pvmfunpack(COMPLEX16, z2, 3, 1, info)
      print *, s2
      print *, b2
      print *, h2
      print *, i2
      print *, l2
      print *, r2
      print *, d2
      print *, c2
      print *, z2
      print *, 'unpacked', info
      call pvmfunpack(COMPLEX16, z2, 1, 1, info)
      print *, 'past the end', info
      call pvmfpsend(tid, 12, z, 3, COMPLEX16, info)
      print *, 'psend', info
      call pvmfprecv(-1, 12, z2, 6, COMPLEX16, src, tag, n, info)
      print *, 'precv', src .eq. tid, tag, n, info, z2
      call pvmfpsend(tid, 12, s, 3, STRING, info)
      print *, 'psend of a string', info
      call pvmfpsend(tid, 12, s, 7, BYTE1, info)
      call pvmfprecv(-1, 12, s2, 12, BYTE1, src, tag, n, info)
      print *, 'precv', n, info, ' ', s2
      end

      subroutine texts
      implicit none
      include 'fpvm3.h'
      integer k, n
      character*12 name(6)
      name(1) = 'abc'
      name(2) = '  leading'
      name(3) = 'in the mid'
      name(4) = ' '
      name(5) = 'nul' // char(0) // 'more'
      name(6) = 'blank ' // char(0) // 'x'
      do 10 k = 1, 6
         call put(name(k), k)
 10   continue
      call put('', 7)
      call find('abc')
      call find('abc            ')
      call find(' abc')
      call find('leading')
      call find('  leading')
      call find('in the mid')
      call find('nul')
      call find('blank')
      call find('blank ' // char(0))
      do 20 k = 1, 6
         call pvmfdelinfo(name(k), 0, 0, n)
         print *, 'delinfo', k, n
 20   continue
      call pvmfperror('on stderr   ', n)
      print *, 'perror', n
      end

      subroutine put(name, number)
      implicit none
      include 'fpvm3.h'
      character*(*) name
      integer number, buf, n
      call pvmfinitsend(PVMDATADEFAULT, buf)
      call pvmfpack(INTEGER4, number, 1, 1, n)
      call pvmfputinfo(name, buf, PVMMBOXDEFAULT, n)
      print *, 'putinfo', number, n
      end

      subroutine find(name)
      implicit none
      include 'fpvm3.h'
      character*(*) name
      integer number, buf, n
      call pvmfrecvinfo(name, 0, PVMMBOXDEFAULT, buf)
      if (buf .lt. 0) then
         print *, 'recvinfo ', name, buf
      else
         call pvmfsetrbuf(buf, n)
         call pvmfunpack(INTEGER4, number, 1, 1, n)
         print *, 'recvinfo ', name, number, n
      endif
      end

      subroutine lists(tid)
      implicit none
      include 'fpvm3.h'
      integer tid, nhost, narch, dtid, speed, info, n, t, p, flag, k
      character*6 arch
      character*100 host, aout
      nhost = 17
      do 10 k = 1, 3
         arch = '######'
         call pvmfconfig(nhost, narch, dtid, host, arch, speed, info)
         print *, 'config', nhost, narch, dtid, arch, '|', speed, info
 10   continue
      nhost = -1
      call pvmfconfig(nhost, narch, dtid, host, arch, speed, info)
      print *, 'config', nhost, info
      call pvmfmstat(host, info)
      print *, 'mstat', info
      do 20 k = 1, 3
         call pvmftasks(0, n, t, p, dtid, flag, aout, info)
         print *, 'tasks', n, t .eq. tid, p, dtid, flag, info
 20   continue
      n = -1
      call pvmftasks(77777777, n, t, p, dtid, flag, aout, info)
      print *, 'tasks of nobody', info
      do 30 k = -1, 1
         call pvmfsiblings(n, k, t)
         print *, 'siblings', k, n, t .eq. tid, t .eq. PvmNoTask
 30   continue
      end

      subroutine child(parent)
      implicit none
      include 'fpvm3.h'
      integer parent, buf, info, n, k, me, tid, t
      call pvmfmytid(me)
      call pvmfrecv(parent, 21, buf)
      call pvmfunpack(INTEGER4, k, 1, 1, info)
      call pvmfsiblings(n, k, tid)
      call pvmfsiblings(n, 1 - k, t)
      call pvmfinitsend(PVMDATADEFAULT, buf)
      call pvmfpack(INTEGER4, n, 1, 1, info)
      n = 0
      if (tid .eq. me .and. t .ne. me .and. t .gt. 0) n = 1
      call pvmfpack(INTEGER4, n, 1, 1, info)
      call pvmfsend(parent, 22, info)
      call pvmfrecv(parent, 23, buf)
      call pvmfexit(info)
      end

      subroutine children(tid)
      implicit none
      include 'fpvm3.h'
      integer tid, tids(3), n, buf, info, k, i, list(2), t, p, d, f
      integer tag
      character*200 path
      character*20 aout
      call get_command_argument(0, path)
      call pvmfspawn(path, PVMTASKHOST, '.', 2, tids, n)
      print *, 'spawn', n
      do 10 k = 1, 2
         call pvmfinitsend(PVMDATADEFAULT, buf)
         call pvmfpack(INTEGER4, k - 1, 1, 1, info)
         call pvmfsend(tids(k), 21, info)
         call pvmfrecv(tids(k), 22, buf)
         call pvmfunpack(INTEGER4, list, 2, 1, info)
         print *, 'child', k, list
 10   continue
      n = -1
      call pvmftasks(tids(2), n, t, p, d, f, aout, info)
      print *, 'tasks', n, t .eq. tids(2), p .eq. tid, f, aout, info
      call pvmfpstat(tids(1), info)
      print *, 'pstat', info
      call pvmfnotify(PVMTASKEXIT, 24, 2, tids, info)
      print *, 'notify', info
      call pvmfinitsend(PVMDATADEFAULT, buf)
      call pvmfmcast(2, tids, 23, info)
      print *, 'mcast', info
      do 20 k = 1, 2
         call pvmftrecv(-1, 24, 20, 0, buf)
         call pvmfbufinfo(buf, n, tag, t, info)
         call pvmfunpack(INTEGER4, t, 1, 1, i)
         print *, 'gone', tag, t .eq. tids(1) .or. t .eq. tids(2), i
 20   continue
      call pvmfpstat(tids(1), info)
      print *, 'pstat', info
      call pvmfspawn('no such program  ', 0, '*', 1, t, n)
      print *, 'spawn', n, t
      call pvmfspawn(path, PVMTASKHOST, 'nohost', 1, t, n)
      print *, 'spawn', n, t
      call pvmfspawn(path, PVMTASKHOST, '*', 1, t, n)
      print *, 'spawn', n, t
      call pvmfspawn(path, PVMTASKARCH, 'NOARCH', 1, t, n)
      print *, 'spawn', n, t
      end

      subroutine groups(tid)
      implicit none
      include 'fpvm3.h'
      external PvmMax, PvmMin, PvmSum, PvmProduct, concat
      integer tid, n, info, i(3), r(3), t
      real*8 d(2)
      data i /4, 5, 6/, d /1.5d0, -2.5d0/
      call pvmfjoingroup('a group   ', n)
      print *, 'join', n
      call pvmfjoingroup('a group', n)
      print *, 'join again', n
      call pvmfgsize('a group', n)
      print *, 'size', n
      call pvmfgettid('a group', 0, t)
      call pvmfgetinst('a group', tid, n)
      print *, 'tid', t .eq. tid, n
      call pvmfgetinst('a group', -1, n)
      print *, 'free instance', n
      call pvmfreduce(PvmMax, i, 3, INTEGER4, 31, 'a group', 0, info)
      print *, 'reduce', i, info
      call pvmfreduce(concat, d, 2, REAL8, 32, 'a group', 0, info)
      print *, 'reduce', d, info
      call pvmfscatter(r, i, 3, INTEGER4, 33, 'a group', 0, info)
      print *, 'scatter', r, info
      r(1) = 9
      call pvmfgather(i, r, 3, INTEGER4, 34, 'a group', 0, info)
      print *, 'gather', i, info
      call PvmSum(INTEGER4, i, r, 3, info)
      print *, 'sum', i, info
      call PvmProduct(INTEGER4, i, r, 3, info)
      print *, 'product', i, info
      call PvmMin(INTEGER4, i, r, 3, info)
      print *, 'min', i, info
      call pvmffreezegroup('a group', 1, info)
      print *, 'freeze', info
      call pvmfbarrier('a group', 1, info)
      print *, 'barrier', info
      call pvmfgettid('a group', 5, t)
      print *, 'tid', t
      call pvmfbcast('nobody', 35, info)
      print *, 'bcast', info
      call pvmflvgroup('nobody', info)
      print *, 'leave', info
      end

      subroutine concat(kind, x, y, n, info)
      implicit none
      integer kind, n, info, k
      real*8 x(n), y(n)
      do 10 k = 1, n
         x(k) = 100 * x(k) + y(k)
 10   continue
      info = 0
      end

      subroutine handlers(tid)
      implicit none
      include 'fpvm3.h'
      integer tid, mhid, info, buf, old, new, n, handled
      external handle
      integer handle
      common /handled/ handled
      handled = 0
      call pvmfaddmhf(-1, 41, -1, 0, handle, mhid)
      print *, 'addmhf', mhid .ge. 0
      call pvmfinitsend(PVMDATADEFAULT, buf)
      call pvmfsend(tid, 41, info)
      call pvmfsend(tid, 42, info)
      call pvmfrecv(-1, 42, buf)
      print *, 'handled', handled
      call pvmfdelmhf(mhid, info)
      print *, 'delmhf', info
      call pvmfdelmhf(mhid, info)
      print *, 'delmhf', info
      call pvmfnewcontext(new)
      call pvmfsetcontext(new, old)
      call pvmfgetcontext(n)
      print *, 'context', new .gt. 0, old, n .eq. new
      call pvmfsetcontext(old, n)
      print *, 'context', n .eq. new
      call pvmfgetopt(PVMROUTE, n)
      print *, 'route', n
      call pvmfsetopt(PVMFRAGSIZE, 8192, n)
      print *, 'fragments', n
      call pvmfsetopt(99, 1, n)
      print *, 'setopt', n
      end

      integer function handle(mid)
      implicit none
      integer mid, handled, buf
      common /handled/ handled
      call pvmfgetrbuf(buf)
      if (buf .gt. 0) handled = handled + 1
      handle = 0
      end

      subroutine mistakes(tid)
      implicit none
      include 'fpvm3.h'
      integer tid, n, info, buf, x
      call pvmfkill(12345, info)
      print *, 'kill', info
      call pvmfsendsig(tid, 0, info)
      print *, 'sendsig', info
      call pvmfmstat('nohost', info)
      print *, 'mstat', info
      call pvmfarchcode('LINUX64  ', n)
      print *, 'archcode', n
      call pvmfarchcode('NONE', n)
      print *, 'archcode', n
      call pvmfdelhost('nohost', n)
      print *, 'delhost', n
      call pvmfstartpvmd(' ', 0, n)
      print *, 'startpvmd', n
      call pvmffreebuf(999, n)
      print *, 'freebuf', n
      call pvmfsetsbuf(999, n)
      print *, 'setsbuf', n
      call pvmfmkbuf(PVMDATARAW, buf)
      call pvmfsetsbuf(buf, n)
      call pvmfgetsbuf(n)
      print *, 'buffers', buf .gt. 0, n .eq. buf
      call pvmfpack(99, x, 1, 1, n)
      print *, 'pack', n
      call pvmfpack(INTEGER4, x, -1, 1, n)
      print *, 'pack', n
      call pvmfsend(tid, -5, n)
      print *, 'send', n
      call pvmfprobe(-1, 4711, n)
      print *, 'probe', n
      call pvmfnrecv(-1, 4711, n)
      print *, 'nrecv', n
      call pvmftrecv(-1, 4711, 0, 1000, n)
      print *, 'trecv', n
      call pvmfhostsync(77, n, n, n, n, info)
      print *, 'hostsync', info
      call pvmfnotify(77, 1, 1, tid, info)
      print *, 'notify', info
      end
