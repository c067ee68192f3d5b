! team - a team of tasks of one program that compute together, for the kernels in examples/nas and examples/genesis.
!
! The same as team.h for C, with the same messages. The first task, which the user starts, reads the command line and
! spawns the others. They have no command line: they get the options by message. Tasks are numbered by rank from 0; rank
! 0 is the first. All tasks call each routine unless it says otherwise. Collective calls go by way of the first task,
! which adds up in the order of ranks, so that results never depend on timing; each costs 2 (size-1) messages. A team of
! two and long parts of team_share do without that way: messages go from each task to each other one.
!
! An error ends the whole team: the first task prints a line, and the program stops with 1.
module team
  use pvm
  use team_command
  use, intrinsic :: iso_fortran_env, only: error_unit, int64
  implicit none
  private
  public :: dp, team_kernel, team_options, team_rank, team_size, team_start, team_end, team_fail
  public :: team_send, team_receive, team_message, team_pack, team_post, team_take, team_unpack
  public :: team_barrier, team_sum, team_max, team_broadcast, team_share
  public :: team_clock_start, team_clock_stop, team_report, team_decimal
  public :: INTEGER4, REAL8, COMPLEX8, COMPLEX16 ! kinds of data, as in pvmfpack

  integer, parameter :: dp = kind(1d0)
  integer, parameter :: tag_up = 10000, tag_down = 10001, tag_each = 10002, tag_report = 10003
  integer, parameter :: tag_team = 10100, tag_done = 10101, tag_release = 10102, tag_failed = 10103, tag_died = 10104

  integer, protected :: team_rank = 0, team_size = 1
  integer :: tids(0:tasks_max), died_handler = -1
  character(len=16) :: program_name = 'team'

  ! What this task has counted: its messages, and its time within calls of this module while the clock runs.
  logical :: counting = .false., running = .false.
  integer :: messages = 0, depth = 0, packed_bytes = 0
  integer, allocatable :: sizes(:)
  real(dp) :: start_s = 0, time_s = 0, enter_s = 0, communication_s = 0

  ! Replaces values by their sum, or largest, over all tasks; gives the first task's to all.
  interface team_sum
    module procedure sum_integer, sum_integers, sum_real, sum_reals
  end interface
  interface team_max
    module procedure max_real
  end interface

contains

  ! ---- how it fails ----

  ! Ends the whole team. Only the first task has the user's terminal, so it prints the line of any task.
  recursive subroutine team_fail(text)
    character(len=*), intent(in) :: text
    integer :: rank, info
    if (team_rank == 0) then
      write (error_unit, '(a)') trim(program_name) // ': ' // text
      do rank = 1, team_size - 1
        if (tids(rank) > 0) call pvmfkill(tids(rank), info)
      end do
    else
      call pvmfinitsend(PVMDATADEFAULT, info)
      call pvmfpack(STRING, text, len(text), 1, info)
      call pvmfsend(tids(0), tag_failed, info)
    end if
    call pvmfexit(info)
    stop 1, quiet=.true.
  end subroutine

  integer function on_failed(mid)
    integer, value :: mid
    character(len=400) :: text
    integer :: bytes, tag, tid, info
    call pvmfbufinfo(mid, bytes, tag, tid, info)
    text = ''
    call pvmfunpack(STRING, text, len(text), 1, info)
    call team_fail(trim(text))
    on_failed = 0
  end function

  integer function on_died(mid)
    integer, value :: mid
    character(len=64) :: text
    integer :: tid, rank, info
    tid = mid ! only to use it
    call pvmfunpack(INTEGER4, tid, 1, 1, info)
    rank = 0
    do while (rank < team_size - 1 .and. tids(rank) /= tid)
      rank = rank + 1
    end do
    write (text, '(a, i0, a, i0, a)') 'task ', rank, ' of ', team_size, ' has died'
    call team_fail(trim(text))
    on_died = 0
  end function

  subroutine check(info, call_name)
    integer, intent(in) :: info
    character(len=*), intent(in) :: call_name
    character(len=64) :: text
    if (info >= 0) return
    write (text, '(a, a, i0)') call_name, ': error ', info
    call team_fail(trim(text))
  end subroutine

  ! ---- start and end ----

  subroutine watch(first, last)
    integer, intent(in) :: first, last
    integer :: info
    call pvmfaddmhf(-1, tag_died, -1, 0, on_died, died_handler)
    call check(died_handler, 'pvmfaddmhf')
    call pvmfnotify(PVMTASKEXIT, tag_died, last - first + 1, tids(first), info)
    call check(info, 'pvmfnotify')
  end subroutine

  ! The program's own path: daemons have other current folders.
  function own_path() result(path)
    character(len=4096) :: path, folder
    call get_command_argument(0, path)
    if (path(1:1) == '/') return
    call get_environment_variable('PWD', folder)
    path = trim(folder) // '/' // trim(path)
  end function

  subroutine lead(options)
    type(team_options), intent(in) :: options
    character(len=64) :: text
    integer :: started, info
    team_size = options%tasks
    if (team_size == 1) return
    call pvmfspawn(trim(own_path()), PVMTASKDEFAULT, '*', team_size - 1, tids(1), started)
    if (started < team_size - 1) then
      write (text, '(a, i0, a, i0, a)') 'only ', 1 + max(started, 0), ' of ', team_size, ' tasks have started'
      call team_fail(trim(text))
    end if
    call pvmfaddmhf(-1, tag_failed, -1, 0, on_failed, info)
    call watch(1, team_size - 1)
    call pvmfinitsend(PVMDATADEFAULT, info)
    call pvmfpack(INTEGER4, [team_size, ichar(options%class), merge(1, 0, options%verify), &
        merge(1, 0, options%stats)], 4, 1, info)
    call pvmfpack(INTEGER4, tids, team_size, 1, info)
    call pvmfmcast(team_size - 1, tids(1), tag_team, info)
    call check(info, 'pvmfmcast')
  end subroutine

  subroutine follow(me, parent, options)
    integer, intent(in) :: me, parent
    type(team_options), intent(inout) :: options
    integer :: about(4), bufid, info
    team_rank = 1 ! not the first: if this fails, there is no team to end
    tids(0) = parent
    call watch(0, 0)
    call pvmfrecv(parent, tag_team, bufid)
    call check(bufid, 'pvmfrecv')
    call pvmfunpack(INTEGER4, about, 4, 1, info)
    team_size = about(1)
    options = team_options(achar(about(2)), about(1), about(3) == 1, about(4) == 1)
    call pvmfunpack(INTEGER4, tids, team_size, 1, info)
    call check(info, 'pvmfunpack')
    do while (tids(team_rank) /= me)
      team_rank = team_rank + 1
    end do
  end subroutine

  ! A file's name without its folders.
  function base_name(path) result(name)
    character(len=*), intent(in) :: path
    character(len=:), allocatable :: name
    name = trim(path(index(path, '/', back=.true.) + 1:))
  end function

  ! Whether the parent is a task of this program, as the first task of a team is. A console is not.
  logical function is_member(parent)
    integer, intent(in) :: parent
    character(len=4096) :: path, program
    integer :: count, tid, grandparent, host, flag, info
    is_member = .false.
    if (parent <= 0) return
    count = -1
    call pvmftasks(parent, count, tid, grandparent, host, flag, program, info)
    call get_command_argument(0, path)
    is_member = info >= 0 .and. base_name(program) == base_name(path)
  end function

  ! Reads the command line, makes the team, and gives the options to all of its tasks. The first call of the program.
  subroutine team_start(kernel, options)
    type(team_kernel), intent(in) :: kernel
    type(team_options), intent(out) :: options
    integer :: me, parent, info
    program_name = kernel%name
    call parse_options(kernel, options)
    call pvmfmytid(me)
    if (me < 0) stop 1, quiet=.true. ! libpvm has printed why
    tids = 0
    tids(0) = me
    call pvmfsetopt(PVMROUTE, PVMROUTEDIRECT, info)
    call pvmfparent(parent)
    if (is_member(parent)) then
      call follow(me, parent, options)
    else
      call lead(options)
    end if
    allocate (sizes(1024))
    counting = .true.
  end subroutine

  ! The first task learns that all others have finished, and only then lets them go: an end before is a death.
  subroutine release(right)
    logical, intent(inout) :: right
    integer :: rank, theirs, info
    do rank = 1, team_size - 1
      call pvmfrecv(tids(rank), tag_done, info)
      call check(info, 'pvmfrecv')
      call pvmfunpack(INTEGER4, theirs, 1, 1, info)
      right = right .and. theirs == 1
    end do
    call pvmfdelmhf(died_handler, info)
    call pvmfinitsend(PVMDATADEFAULT, info)
    call pvmfmcast(team_size - 1, tids(1), tag_release, info)
  end subroutine

  ! Waits for the release, or for the notice that the first task has died.
  subroutine await_release(right)
    logical, intent(in) :: right
    integer :: info
    call pvmfdelmhf(died_handler, info)
    call pvmfinitsend(PVMDATADEFAULT, info)
    call pvmfpack(INTEGER4, merge(1, 0, right), 1, 1, info)
    call pvmfsend(tids(0), tag_done, info)
    call pvmfrecv(-1, -1, info)
  end subroutine

  ! All tasks have finished: leaves the team and stops, with 1 if the result of any task is not right.
  subroutine team_end(right)
    logical, intent(in) :: right
    logical :: all_right
    integer :: info
    all_right = right
    if (team_rank > 0) then
      call await_release(right)
    else if (team_size > 1) then
      call release(all_right)
    end if
    call pvmfexit(info)
    if (.not. all_right) stop 1, quiet=.true.
    stop
  end subroutine

  ! ---- counting and time ----

  function now_s() result(now)
    real(dp) :: now
    integer(int64) :: count, rate
    call system_clock(count, rate)
    now = real(count, dp) / real(rate, dp)
  end function

  ! Communication begins and ends; pairs may nest.
  subroutine enter
    if (depth == 0 .and. running) enter_s = now_s()
    depth = depth + 1
  end subroutine

  subroutine leave
    depth = depth - 1
    if (depth == 0 .and. running) communication_s = communication_s + now_s() - enter_s
  end subroutine

  subroutine count_message(bytes)
    integer, intent(in) :: bytes
    if (.not. counting) return
    if (messages == size(sizes)) sizes = [sizes, sizes]
    messages = messages + 1
    sizes(messages) = bytes
  end subroutine

  integer function bytes_of(what, count)
    integer, intent(in) :: what, count
    bytes_of = 8 * count
    if (what == INTEGER4) bytes_of = 4 * count
    if (what == COMPLEX16) bytes_of = 16 * count
  end function

  ! ---- messages between two tasks ----

  ! Sends `count` values. They may be changed as soon as the call returns.
  subroutine team_send(to, tag, what, values, count)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: values
    integer, intent(in) :: to, tag, what, count
    type(*), intent(in) :: values(*)
    integer :: info
    call enter
    call pvmfinitsend(PVMDATARAW, info)
    call pvmfpack(what, values, count, 1, info)
    call check(info, 'pvmfpack')
    call pvmfsend(tids(to), tag, info)
    call check(info, 'pvmfsend')
    call count_message(bytes_of(what, count))
    call leave
  end subroutine

  ! Waits for the next message of `from` with this tag, which has `count` values.
  subroutine team_receive(from, tag, what, values, count)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: values
    integer, intent(in) :: from, tag, what, count
    type(*), intent(inout) :: values(*)
    call team_take(from, tag)
    call team_unpack(what, values, count, 1)
  end subroutine

  ! The same for messages of several parts, which may have strides: team_message begins one, team_pack appends to it,
  ! team_post sends it; team_take receives it, and team_unpack reads its parts in the same order.
  subroutine team_message
    integer :: info
    call enter
    call pvmfinitsend(PVMDATARAW, info)
    call check(info, 'pvmfinitsend')
    packed_bytes = 0
    call leave
  end subroutine

  subroutine team_pack(what, values, count, stride)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: values
    integer, intent(in) :: what, count, stride
    type(*), intent(in) :: values(*)
    integer :: info
    call enter
    call pvmfpack(what, values, count, stride, info)
    call check(info, 'pvmfpack')
    packed_bytes = packed_bytes + bytes_of(what, count)
    call leave
  end subroutine

  subroutine team_post(to, tag)
    integer, intent(in) :: to, tag
    integer :: info
    call enter
    call pvmfsend(tids(to), tag, info)
    call check(info, 'pvmfsend')
    call count_message(packed_bytes)
    call leave
  end subroutine

  subroutine team_take(from, tag)
    integer, intent(in) :: from, tag
    integer :: bufid
    call enter
    call pvmfrecv(tids(from), tag, bufid)
    call check(bufid, 'pvmfrecv')
    call leave
  end subroutine

  subroutine team_unpack(what, values, count, stride)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: values
    integer, intent(in) :: what, count, stride
    type(*), intent(inout) :: values(*)
    integer :: info
    call enter
    call pvmfunpack(what, values, count, stride, info)
    call check(info, 'pvmfunpack')
    call leave
  end subroutine

  ! ---- messages among all tasks ----

  ! All tasks get the first task's values.
  subroutine team_broadcast(what, values, count)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: values
    integer, intent(in) :: what, count
    type(*), intent(inout) :: values(*)
    integer :: rank
    call enter
    if (team_rank > 0) then
      call team_receive(0, tag_down, what, values, count)
    else
      do rank = 1, team_size - 1
        call team_send(rank, tag_down, what, values, count)
      end do
    end if
    call leave
  end subroutine

  subroutine sum_reals(values)
    real(dp), intent(inout) :: values(:)
    real(dp) :: theirs(size(values))
    integer :: rank
    if (team_size == 1) return
    call enter
    if (team_rank > 0) then
      call team_send(0, tag_up, REAL8, values, size(values))
    else
      do rank = 1, team_size - 1
        call team_receive(rank, tag_up, REAL8, theirs, size(values))
        values = values + theirs
      end do
    end if
    call team_broadcast(REAL8, values, size(values))
    call leave
  end subroutine

  subroutine sum_integers(values)
    integer, intent(inout) :: values(:)
    integer :: theirs(size(values))
    integer :: rank
    if (team_size == 1) return
    call enter
    if (team_rank > 0) then
      call team_send(0, tag_up, INTEGER4, values, size(values))
    else
      do rank = 1, team_size - 1
        call team_receive(rank, tag_up, INTEGER4, theirs, size(values))
        values = values + theirs
      end do
    end if
    call team_broadcast(INTEGER4, values, size(values))
    call leave
  end subroutine

  subroutine sum_real(value)
    real(dp), intent(inout) :: value
    real(dp) :: values(1)
    values = value
    call sum_reals(values)
    value = values(1)
  end subroutine

  subroutine sum_integer(value)
    integer, intent(inout) :: value
    integer :: values(1)
    values = value
    call sum_integers(values)
    value = values(1)
  end subroutine

  subroutine max_real(value)
    real(dp), intent(inout) :: value
    real(dp) :: theirs
    integer :: rank
    if (team_size == 1) return
    call enter
    if (team_rank > 0) then
      call team_send(0, tag_up, REAL8, value, 1)
    else
      do rank = 1, team_size - 1
        call team_receive(rank, tag_up, REAL8, theirs, 1)
        value = max(value, theirs)
      end do
    end if
    call team_broadcast(REAL8, value, 1)
    call leave
  end subroutine

  ! Waits until all tasks have called it.
  subroutine team_barrier
    integer :: nothing(0)
    call sum_integers(nothing)
  end subroutine

  ! Makes an array whole of which each task has computed values(first(rank) + 1 : first(rank + 1)), where first(0) is 0.
  ! Parts of more than 4 KiB in the mean go from each task to each other one, others by way of the first.
  subroutine team_share(values, first)
    real(dp), intent(inout) :: values(*)
    integer, intent(in) :: first(0:)
    call enter
    if (team_size == 2 .or. 8 * first(team_size) > 4096 * team_size) then
      call share_directly(values, first)
    else
      call share_by_first(values, first)
    end if
    call leave
  end subroutine

  subroutine share_directly(values, first)
    real(dp), intent(inout) :: values(*)
    integer, intent(in) :: first(0:)
    integer :: step, rank, me
    me = team_rank
    do step = 1, team_size - 1
      call team_send(modulo(me + step, team_size), tag_each, REAL8, values(first(me) + 1), first(me + 1) - first(me))
    end do
    do step = 1, team_size - 1
      rank = modulo(me - step, team_size)
      call team_receive(rank, tag_each, REAL8, values(first(rank) + 1), first(rank + 1) - first(rank))
    end do
  end subroutine

  ! The part goes to the first task, which sends back what the task lacks.
  subroutine share_by_first(values, first)
    real(dp), intent(inout) :: values(*)
    integer, intent(in) :: first(0:)
    integer :: rank, whole
    whole = first(team_size)
    do rank = 1, team_size - 1
      if (team_rank == rank) call team_send(0, tag_up, REAL8, values(first(rank) + 1), first(rank + 1) - first(rank))
      if (team_rank == 0) call team_receive(rank, tag_up, REAL8, values(first(rank) + 1), first(rank + 1) - first(rank))
    end do
    do rank = 1, team_size - 1
      if (team_rank == 0) then
        call team_message
        call team_pack(REAL8, values, first(rank), 1)
        call team_pack(REAL8, values(first(rank + 1) + 1), whole - first(rank + 1), 1)
        call team_post(rank, tag_down)
      else if (team_rank == rank) then
        call team_take(0, tag_down)
        call team_unpack(REAL8, values, first(rank), 1)
        call team_unpack(REAL8, values(first(rank + 1) + 1), whole - first(rank + 1), 1)
      end if
    end do
  end subroutine

  ! ---- time and statistics ----

  ! A barrier, after which the measured time begins.
  subroutine team_clock_start
    counting = .false.
    call team_barrier
    counting = .true.
    running = .true.
    communication_s = 0
    start_s = now_s()
  end subroutine

  ! Ends the measured time and the counting of messages. longest_s is the longest time of all tasks.
  subroutine team_clock_stop(longest_s)
    real(dp), intent(out) :: longest_s
    if (running) time_s = now_s() - start_s
    running = .false.
    counting = .false.
    longest_s = time_s
    call team_max(longest_s)
  end subroutine

  ! After team_clock_stop: the first task prints a line about messages and time; team.h describes it.
  subroutine team_report
    real(dp) :: total_s, longest_s, all_s
    integer, allocatable :: all_sizes(:), more(:)
    integer :: rank, count
    total_s = communication_s
    longest_s = communication_s
    all_s = time_s
    call team_sum(total_s)
    call team_max(longest_s)
    call team_max(all_s)
    if (team_rank > 0) then
      call team_send(0, tag_report, INTEGER4, messages, 1)
      call team_send(0, tag_report, INTEGER4, sizes, messages)
      return
    end if
    all_sizes = sizes(1:messages)
    do rank = 1, team_size - 1
      call team_receive(rank, tag_report, INTEGER4, count, 1)
      allocate (more(count))
      call team_receive(rank, tag_report, INTEGER4, more, count)
      all_sizes = [all_sizes, more]
      deallocate (more)
    end do
    call print_report(all_sizes, all_s, total_s / team_size, longest_s)
  end subroutine

  subroutine print_report(all_sizes, all_s, mean_s, longest_s)
    integer, intent(in) :: all_sizes(:)
    real(dp), intent(in) :: all_s, mean_s, longest_s
    real(dp) :: bytes
    bytes = sum(real(all_sizes, dp))
    print '(4(a, i0), a)', 'stats tasks=', team_size, ' messages=', size(all_sizes), ' bytes=', nint(bytes, int64), &
        ' mean=' // team_decimal(bytes / max(size(all_sizes), 1), 2) // ' median=', nint(median(all_sizes)), &
        ' time_s=' // team_decimal(all_s, 6) // ' comm_s=' // team_decimal(mean_s, 6) // ' comm_max_s=' // &
        team_decimal(longest_s, 6)
  end subroutine

  ! A number with so many digits after the point, and one before it; any one task may call it.
  function team_decimal(number, digits) result(text)
    real(dp), intent(in) :: number
    integer, intent(in) :: digits
    character(len=:), allocatable :: text
    character(len=40) :: form, wide
    write (form, '(a, i0, a)') '(f40.', digits, ')'
    write (wide, form) number
    text = trim(adjustl(wide))
  end function

  ! The value with so many others before it in the sorted sequence, by halving the range of values.
  integer function value_after(values, others) result(low)
    integer, intent(in) :: values(:), others
    integer :: high, middle
    low = 0
    high = maxval(values)
    do while (low < high)
      middle = low + (high - low) / 2
      if (count(values <= middle) > others) then
        high = middle
      else
        low = middle + 1
      end if
    end do
  end function

  ! Mean of the two in the middle, if their number is even.
  real(dp) function median(values)
    integer, intent(in) :: values(:)
    median = 0
    if (size(values) == 0) return
    median = (value_after(values, (size(values) - 1) / 2) + real(value_after(values, size(values) / 2), dp)) / 2
  end function
end module
