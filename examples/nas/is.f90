! is - NAS parallel benchmark IS in Fortran: ranks integer keys ten times. is.c describes it.
!
! Shows   an exchange among all tasks, in long messages whose lengths are known only when the program runs.
! Build   pvmf90 -O2 -o is ../kernels/team_command.f90 ../kernels/team.f90 nas_random.f90 is.f90
! Run     ./is --class S --tasks 4 --verify --stats
program is
  use team
  use nas_random
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none
  integer, parameter :: rankings = 10, tests = 5, buckets = 2048
  integer, parameter :: tag_count = 1, tag_keys = 2, tag_ranks = 3, tag_check = 4
  integer(int64), parameter :: seed = 314159265

  ! NAS's test keys are those at test_index. The ranks of the first `low` of them grow by one with each ranking, those
  ! of the others fall: test_rank is that of an imagined ranking, number zero_low or zero_high.
  type :: problem
    integer :: log2_keys, log2_range
    logical :: own_sent ! what a task has for itself is a message, too, as in the thesis
    integer :: low, zero_low, zero_high
    integer :: test_index(tests), test_rank(tests)
  end type

  type(team_options) :: options
  type(problem) :: this
  integer, allocatable :: first(:)        ! each task's keys begin with this number
  integer, allocatable :: keys(:), ranks(:) ! own
  integer, allocatable :: place(:)        ! where each own key is in out
  integer, allocatable :: out(:), in(:)   ! own keys by owner; those to rank by sender; later ranks
  integer, allocatable :: out_at(:), in_at(:) ! each task's part begins at this element
  integer, allocatable :: bucket_of(:)    ! each task's first bucket
  integer, allocatable :: smaller(:)      ! of each key in our range, how many keys are smaller
  integer :: bucket(0:buckets - 1)        ! keys of all tasks in each
  integer :: base, past, width            ! our range of keys; keys in a bucket
  integer :: ranking, rank, right_tests, all_tests
  logical :: right
  real(dp) :: time_s
  character(len=10) :: verdict

  call team_start(team_kernel('is', 'NAS IS: ranks integer keys.', 'SWAT', &
      'S (2^16 keys below 2^11), W (2^20, 2^16), A (2^23, 2^19), T (2^19, 2^15: the thesis''s messages)'), options)
  call choose_problem
  call make_keys
  right_tests = 0
  call team_clock_start
  do ranking = 1, rankings
    call rank_keys
  end do
  call team_clock_stop(time_s)
  call team_sum(right_tests)
  all_tests = merge(tests * rankings, 0, this%low > 0)
  right = .true.
  if (options%verify) right = are_sorted() .and. right_tests == all_tests
  verdict = ''
  if (options%verify) verdict = merge(': correct ', ': WRONG   ', right)
  if (team_rank == 0) print '(3(a, i0), a)', 'is class ' // options%class // ': ', team_size, ' tasks, ' // &
      team_decimal(time_s, 4) // ' s, ', right_tests, ' of ', all_tests, ' test ranks' // trim(verdict)
  if (options%stats) call team_report
  call team_end(right)

contains

  subroutine choose_problem
    select case (options%class)
    case ('S')
      this = problem(16, 11, .false., 3, 0, 0, [48427, 17148, 23627, 62548, 4431], [0, 18, 346, 64917, 65463])
    case ('W')
      this = problem(20, 16, .false., 2, 2, 0, [357773, 934767, 875723, 898999, 404505], &
          [1249, 11698, 1039987, 1043896, 1048018])
    case ('A')
      this = problem(23, 19, .false., 3, 1, 1, [2112377, 662041, 5336171, 3642833, 4250760], &
          [104, 17523, 123928, 8288932, 8388264])
    case default
      this = problem(19, 15, .true., 0, 0, 0, 0, -1)
    end select
    width = 2**(this%log2_range - 11)
  end subroutine

  ! ---- keys ----

  ! Each is the mean of four random numbers, in NAS's sequence.
  subroutine make_keys
    integer(int64) :: state
    real(dp) :: total
    integer :: k, m
    allocate (first(0:team_size), bucket_of(0:team_size), out_at(0:team_size), in_at(0:team_size), in(0))
    first = [(int(rank * 2_int64**this%log2_keys / team_size), rank=0, team_size)]
    allocate (keys(first(team_rank):first(team_rank + 1) - 1))
    allocate (ranks, place, source=keys)
    allocate (out(size(keys)))
    state = random_after(seed, 4_int64 * first(team_rank))
    do k = lbound(keys, 1), ubound(keys, 1)
      total = 0
      do m = 1, 4
        total = total + random_next(state)
      end do
      keys(k) = int(2**(this%log2_range - 2) * total)
    end do
  end subroutine

  logical function is_own(number)
    integer, intent(in) :: number
    is_own = number >= lbound(keys, 1) .and. number <= ubound(keys, 1)
  end function

  ! NAS changes two keys before each ranking, so that the ranks of all change.
  subroutine change_keys
    if (is_own(ranking)) keys(ranking) = ranking
    if (is_own(ranking + rankings)) keys(ranking + rankings) = 2**this%log2_range - ranking
  end subroutine

  ! All tasks learn the test keys.
  subroutine find_tests(test_keys)
    integer, intent(out) :: test_keys(tests)
    integer :: k
    test_keys = 0
    do k = 1, tests
      if (is_own(this%test_index(k))) test_keys(k) = keys(this%test_index(k))
    end do
    call team_sum(test_keys)
  end subroutine

  ! ---- who ranks what ----

  ! Splits the buckets so that each task has about as many keys.
  subroutine split_buckets
    integer :: below, b, rank
    below = 0
    rank = 1
    bucket_of = buckets
    bucket_of(0) = 0
    do b = 0, buckets - 1
      do while (rank < team_size)
        if (below + bucket(b) / 2 < rank * 2_int64**this%log2_keys / team_size) exit
        bucket_of(rank) = b
        rank = rank + 1
      end do
      below = below + bucket(b)
    end do
  end subroutine

  ! Counts the keys in buckets, and sorts the own ones by owner.
  subroutine sort_by_owner
    integer :: own(0:buckets - 1), owner(0:buckets - 1), next(0:team_size - 1), k, b, rank
    own = 0
    do k = lbound(keys, 1), ubound(keys, 1)
      own(keys(k) / width) = own(keys(k) / width) + 1
    end do
    bucket = own
    call team_sum(bucket)
    call split_buckets
    out_at(0) = 1
    do rank = 0, team_size - 1
      owner(bucket_of(rank):bucket_of(rank + 1) - 1) = rank
      out_at(rank + 1) = out_at(rank) + sum(own(bucket_of(rank):bucket_of(rank + 1) - 1))
    end do
    next = out_at(0:team_size - 1)
    do k = lbound(keys, 1), ubound(keys, 1)
      b = owner(keys(k) / width)
      place(k) = next(b)
      out(next(b)) = keys(k)
      next(b) = next(b) + 1
    end do
  end subroutine

  ! ---- the exchange ----

  ! Sends each task its part of from, and receives the parts of to from all.
  subroutine exchange(tag, from, from_at, to, to_at)
    integer, intent(in) :: tag, from_at(0:), to_at(0:)
    integer, intent(in) :: from(*)
    integer, intent(inout) :: to(*)
    integer :: begin, step, rank, me
    me = team_rank
    begin = merge(0, 1, this%own_sent)
    do step = begin, team_size - 1
      rank = mod(me + step, team_size)
      call team_send(rank, tag, INTEGER4, from(from_at(rank)), from_at(rank + 1) - from_at(rank))
    end do
    if (begin == 1) to(to_at(me):to_at(me + 1) - 1) = from(from_at(me):from_at(me + 1) - 1)
    do step = begin, team_size - 1
      rank = mod(me - step + team_size, team_size)
      call team_receive(rank, tag, INTEGER4, to(to_at(rank)), to_at(rank + 1) - to_at(rank))
    end do
  end subroutine

  ! The tasks tell each other how many keys follow.
  subroutine exchange_counts
    integer :: outgoing(team_size), incoming(team_size), each(0:team_size), rank
    each = [(rank + 1, rank=0, team_size)]
    outgoing = out_at(1:) - out_at(:team_size - 1)
    call exchange(tag_count, outgoing, each, incoming, each)
    in_at(0) = 1
    do rank = 0, team_size - 1
      in_at(rank + 1) = in_at(rank) + incoming(rank + 1)
    end do
    if (size(in) >= in_at(team_size) - 1) return
    deallocate (in)
    allocate (in(in_at(team_size) + in_at(team_size) / 8))
  end subroutine

  ! ---- ranks ----

  subroutine count_smaller
    integer :: below, count, k
    base = bucket_of(team_rank) * width
    past = bucket_of(team_rank + 1) * width
    if (allocated(smaller)) deallocate (smaller)
    allocate (smaller(base:past - 1), source=0)
    do k = 1, in_at(team_size) - 1
      smaller(in(k)) = smaller(in(k)) + 1
    end do
    below = sum(bucket(:bucket_of(team_rank) - 1))
    do k = base, past - 1
      count = smaller(k)
      smaller(k) = below
      below = below + count
    end do
  end subroutine

  ! Counts which test keys of our range have the right number of smaller keys.
  subroutine check_tests(test_keys)
    integer, intent(in) :: test_keys(tests)
    integer :: k, expected
    do k = 1, tests
      expected = this%test_rank(k) + merge(ranking - this%zero_low, this%zero_high - ranking, k <= this%low)
      if (test_keys(k) < base .or. test_keys(k) >= past) cycle
      if (smaller(test_keys(k)) == expected) right_tests = right_tests + 1
    end do
  end subroutine

  ! Replaces the keys of in by their ranks; of equal keys the first has the lowest.
  subroutine rank_incoming
    integer :: k, key
    do k = 1, in_at(team_size) - 1
      key = in(k)
      in(k) = smaller(key)
      smaller(key) = smaller(key) + 1
    end do
  end subroutine

  subroutine rank_keys
    integer :: test_keys(tests)
    call change_keys
    call find_tests(test_keys)
    call sort_by_owner
    call exchange_counts
    call exchange(tag_keys, out, out_at, in, in_at)
    call count_smaller
    if (this%low > 0) call check_tests(test_keys)
    call rank_incoming
    call exchange(tag_ranks, in, in_at, out, out_at)
    ranks = out(place)
  end subroutine

  ! ---- the full check ----

  ! Whether the ranks are those of a sorted sequence: each of 0 to keys-1 is there once, and keys grow with their ranks.
  ! The first task gathers all keys and ranks; for the others this is true.
  logical function are_sorted()
    integer, allocatable :: all_keys(:), all_ranks(:), sorted(:)
    integer :: rank, k
    are_sorted = .true.
    if (team_rank > 0) then
      call team_send(0, tag_check, INTEGER4, keys, size(keys))
      call team_send(0, tag_check, INTEGER4, ranks, size(ranks))
      return
    end if
    allocate (all_keys(0:first(team_size) - 1), all_ranks(0:first(team_size) - 1))
    allocate (sorted(0:first(team_size) - 1), source=-1)
    all_keys(0:first(1) - 1) = keys
    all_ranks(0:first(1) - 1) = ranks
    do rank = 1, team_size - 1
      call team_receive(rank, tag_check, INTEGER4, all_keys(first(rank)), first(rank + 1) - first(rank))
      call team_receive(rank, tag_check, INTEGER4, all_ranks(first(rank)), first(rank + 1) - first(rank))
    end do
    are_sorted = minval(all_ranks) == 0 .and. maxval(all_ranks) < first(team_size)
    if (.not. are_sorted) return
    sorted(all_ranks) = all_keys
    are_sorted = minval(sorted) >= 0 .and. all([(sorted(k - 1) <= sorted(k), k=1, first(team_size) - 1)])
  end function
end program
