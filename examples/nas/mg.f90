! mg - NAS parallel benchmark MG in Fortran: V-cycles of the multigrid method. mg.c describes it.
!
! Shows   exchanges between neighbours, with messages of very different sizes; work done by all where messages cost more.
! Build   pvmf90 -O3 -o mg ../kernels/team_command.f90 ../kernels/team.f90 nas_random.f90 nas_grid.f90 mg.f90
! Run     ./mg --class S --tasks 4 --verify --stats
program mg
  use team
  use nas_random
  use nas_grid
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none
  integer, parameter :: cycles = 4, charges = 10, whole_max = 8, extremes_size = 4 * charges
  integer, parameter :: tag_up = 1, tag_down = 2
  integer(int64), parameter :: seed = 314159265
  real(dp), parameter :: tolerance = 1e-8_dp ! NAS's, of the norm

  ! Some of the largest numbers of a sequence, in ascending order, and their places there.
  type :: largest
    real(dp) :: numbers(charges), places(charges)
  end type

  type(team_options) :: options
  logical :: eager ! whether borders are exchanged after each operator, and grids divided as far as possible
  integer :: top   ! level k has 2**k planes
  type(grid), allocatable :: u(:), r(:) ! correction and residual; at the top, solution and residual
  type(grid) :: v                       ! the charges
  real(dp) :: right_norm, last, time_s
  logical :: right
  character(len=10) :: verdict
  integer :: k

  call team_start(team_kernel('mg', 'NAS MG: the Poisson equation, solved by the multigrid method.', 'SWAT', &
      'S 32x32x32, W 128x128x128, A 256x256x256; T as W, with more exchanges', .true.), options)
  call choose_problem
  allocate (u(top), r(top))
  do k = 1, top
    u(k) = level_grid(k)
    r(k) = level_grid(k)
  end do
  v = level_grid(top)
  call place_charges
  call team_clock_start
  call residual(top)
  last = norm()
  do k = 1, cycles
    call v_cycle
  end do
  last = norm()
  call team_clock_stop(time_s)
  right = .not. options%verify .or. abs(last - right_norm) <= tolerance * right_norm
  verdict = ''
  if (options%verify) verdict = merge(': correct ', ': WRONG   ', right)
  if (team_rank == 0) print '(a, i0, a, es19.13, a)', 'mg class ' // options%class // ': ', team_size, ' tasks, ' // &
      team_decimal(time_s, 4) // ' s, norm of the last residual ', last, trim(verdict)
  if (options%stats) call team_report
  call team_end(right)

contains

  subroutine choose_problem
    eager = options%class == 'T'
    select case (options%class)
    case ('S')
      top = 5
      right_norm = 0.5307707005734e-4_dp
    case ('A')
      top = 8
      right_norm = 0.2433365309069e-5_dp
    case default
      top = 7
      right_norm = 0.6467329375339e-5_dp
    end select
    if (2**top < team_size) call team_fail('there are fewer planes than tasks')
  end subroutine

  ! ---- dividing ----

  ! Whether all tasks have the whole grid of a level.
  logical function is_whole(level)
    integer, intent(in) :: level
    is_whole = team_size == 1 .or. 2**level < team_size .or. (.not. eager .and. 2**level <= whole_max)
  end function

  function level_grid(level) result(g)
    integer, intent(in) :: level
    type(grid) :: g
    if (is_whole(level)) then
      g = new_grid(2**level, 0, 2**level)
    else
      g = new_grid(2**level, 2**level / team_size * team_rank, 2**level / team_size)
    end if
  end function

  ! The planes that a task can restrict to: those on its fine planes. Each task's begin where the last one's end.
  integer function first_coarse_plane(fine_level, rank)
    integer, intent(in) :: fine_level, rank
    first_coarse_plane = 2**fine_level / team_size * rank / 2
  end function

  ! ---- messages ----

  ! Sets the points around a slab.
  subroutine exchange(g)
    type(grid), intent(inout) :: g
    integer :: below, above, length
    call grid_wrap(g)
    if (g%planes == g%n) then
      g%at(:, :, 0) = g%at(:, :, g%n)
      g%at(:, :, g%n + 1) = g%at(:, :, 1)
      return
    end if
    below = modulo(team_rank - 1, team_size)
    above = modulo(team_rank + 1, team_size)
    length = (g%n + 2)**2
    call team_send(below, tag_down, REAL8, g%at(0, 0, 1), length)
    call team_send(above, tag_up, REAL8, g%at(0, 0, g%planes), length)
    call team_receive(below, tag_up, REAL8, g%at(0, 0, 0), length)
    call team_receive(above, tag_down, REAL8, g%at(0, 0, g%planes + 1), length)
  end subroutine

  ! ---- the V-cycle ----

  subroutine restrict_to(level)
    integer, intent(in) :: level
    integer :: rank
    if (is_whole(level + 1)) then
      call grid_restrict(r(level + 1), r(level), 0, 2**level)
    else
      call grid_restrict(r(level + 1), r(level), first_coarse_plane(level + 1, team_rank), &
          first_coarse_plane(level + 1, team_rank + 1))
      if (is_whole(level)) call team_share(r(level)%at(0, 0, 1), &
          [(first_coarse_plane(level + 1, rank) * (2**level + 2)**2, rank=0, team_size)])
    end if
    call exchange(r(level))
  end subroutine

  subroutine residual(level)
    integer, intent(in) :: level
    if (level == top) r(level)%at = v%at
    call grid_residual(u(level), r(level))
    call exchange(r(level))
  end subroutine

  subroutine smooth(level)
    integer, intent(in) :: level
    call grid_smooth(r(level), u(level))
    call exchange(u(level))
  end subroutine

  subroutine v_cycle
    integer :: level
    do level = top - 1, 1, -1
      call restrict_to(level)
      u(level)%at = 0
    end do
    call smooth(1)
    do level = 2, top
      call grid_interpolate(u(level - 1), u(level))
      if (eager) call exchange(u(level)) ! which has the points around its slab already
      call residual(level)
      call smooth(level)
    end do
    call residual(top)
  end subroutine

  function norm()
    real(dp) :: norm
    norm = grid_squares(r(top))
    call team_sum(norm)
    norm = sqrt(norm / real(2**top, dp)**3)
  end function

  ! ---- the charges ----

  subroutine insert(list, number, place)
    type(largest), intent(inout) :: list
    real(dp), intent(in) :: number, place
    integer :: i
    if (number <= list%numbers(1)) return
    i = 1
    do while (i < charges)
      if (list%numbers(i + 1) >= number) exit
      list%numbers(i) = list%numbers(i + 1)
      list%places(i) = list%places(i + 1)
      i = i + 1
    end do
    list%numbers(i) = number
    list%places(i) = place
  end subroutine

  ! The largest of the numbers, and of their negatives, that belong to this task's points.
  subroutine find_extremes(extremes)
    type(largest), intent(out) :: extremes(2)
    integer(int64) :: state, begin, i
    real(dp) :: number
    extremes(1)%numbers = -2
    extremes(2)%numbers = -2
    begin = int(v%first, int64) * v%n**2
    state = random_after(seed, begin)
    do i = begin, begin + v%planes * v%n**2 - 1
      number = random_next(state)
      call insert(extremes(1), number, real(i, dp))
      call insert(extremes(2), -number, real(i, dp))
    end do
  end subroutine

  ! The same of the whole sequence.
  subroutine share_extremes(extremes)
    type(largest), intent(inout) :: extremes(2)
    real(dp) :: all(charges, 4, 0:team_size - 1)
    integer :: rank, i, k
    do k = 1, 2
      all(:, 2 * k - 1, team_rank) = extremes(k)%numbers
      all(:, 2 * k, team_rank) = extremes(k)%places
    end do
    call team_share(all, [(extremes_size * rank, rank=0, team_size)])
    do rank = 0, team_size - 1
      if (rank == team_rank) cycle
      do k = 1, 2
        do i = 1, charges
          call insert(extremes(k), all(i, 2 * k - 1, rank), all(i, 2 * k, rank))
        end do
      end do
    end do
  end subroutine

  ! Sets v to 1 at the places of the largest numbers and to -1 at those of the smallest.
  subroutine place_charges
    type(largest) :: extremes(2)
    integer :: i, k, place, p
    call find_extremes(extremes)
    call share_extremes(extremes)
    do k = 1, 2
      do i = 1, charges
        place = nint(extremes(k)%places(i))
        p = place / v%n**2 - v%first
        if (p >= 0 .and. p < v%planes) &
            v%at(modulo(place, v%n) + 1, modulo(place / v%n, v%n) + 1, p + 1) = merge(1, -1, k == 1)
      end do
    end do
    if (eager) call exchange(v)
  end subroutine
end program
