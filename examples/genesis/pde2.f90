! pde2 - PDE2 of the GENESIS suite in Fortran: multigrid for Poisson's equation in two dimensions. pde2.c describes it.
!
! Shows   many short messages, one computation on several grids.
! Build   pvmf90 -O3 -o pde2 ../kernels/team_command.f90 ../kernels/team.f90 pde2.f90
! Run     ./pde2 --class S --tasks 4 --verify --stats
program pde2
  use team
  implicit none
  integer, parameter :: levels_max = 16, modes = 3, cycles = 4, sweeps_before = 2, sweeps_after = 1
  integer, parameter :: left = 0, right = 1, lower = 2, upper = 3 ! side i of a part touches side ieor(i, 1)
  integer, parameter :: tag_results = 4
  real(dp), parameter :: pi = acos(-1.0_dp), alone_max = 1e-13_dp
  ! The solution: the sum over m of amplitude(m) sin(waves(1, m) pi x) sin(waves(2, m) pi y).
  real(dp), parameter :: amplitude(modes) = [1.0_dp, 0.5_dp, -0.25_dp]
  integer, parameter :: waves(2, modes) = reshape([1, 1, 2, 3, 5, 2], [2, modes])

  ! A part of one grid: own points x0 .. x1 - 1, y0 .. y1 - 1. Those of index 0 are on the edge of the square.
  type grid
    integer :: n, x0, x1, y0, y1
    real(dp), allocatable :: u(:, :), f(:, :) ! (x0-1:x1, y0-1:y1): the solution; h**2 times the right side
  end type

  ! A part of the square on all grids, the coarsest first, and the tasks that have its neighbours.
  type part
    integer :: levels = 0, neighbours(0:3) = -1
    type(grid) :: grids(levels_max)
    real(dp) :: sums(levels_max) = 0 ! after the first V-cycle on each grid, see weighted_sum
  end type

  type(team_options) :: options
  type(part) :: own
  integer :: n, hosts, parts
  real(dp), allocatable :: side(:)
  real(dp) :: results(3), bound, time_s ! differences from the solution, the grid's solution, the same by one task alone
  logical :: correct

  call team_start(team_kernel('pde2', 'GENESIS PDE2: Poisson''s equation in two dimensions by multigrid.', 'SWAT', &
      'S (32**2 meshes), W (2048**2), A (4096**2), T (256**2: messages of the thesis)', power_of_two=.true., &
      host_class='T'), options)
  n = merge(32, merge(2048, merge(4096, 256, options%class == 'A'), options%class == 'W'), options%class == 'S')
  call team_broadcast(INTEGER4, n, 1)
  allocate (side(n + 1))
  hosts = merge(1, 0, options%class == 'T' .and. team_size > 1)
  parts = team_size - hosts
  if (parts_in_x(parts) > n) call team_fail('there are too many tasks for so few meshes')
  call make_part(own, max(2, parts_in_x(parts)), team_rank - hosts, parts, hosts)
  call team_clock_start
  call solve(own)
  results = 0
  call collect ! the program has messages with results; ours are known only after the clock
  call team_clock_stop(time_s)
  bound = sum(abs(grid_amplitude() - amplitude))
  results = [difference(own%grids(own%levels), amplitude), difference(own%grids(own%levels), grid_amplitude()), 0.0_dp]
  if (options%verify .and. team_rank >= hosts) results(3) = difference_from_alone()
  call collect
  correct = results(1) <= 1.01_dp * bound .and. results(2) <= 0.01_dp * bound .and. results(3) <= alone_max
  if (team_rank == 0) call print_result
  if (options%stats) call team_report
  call team_end(correct .or. .not. options%verify)

contains

  ! ---- grids ----

  ! mx * my meshes in column x and row y of the parts.
  subroutine make_grid(g, n, mx, my, x, y)
    type(grid), intent(out) :: g
    integer, intent(in) :: n, mx, my, x, y
    g%n = n
    g%x0 = x * mx
    g%x1 = (x + 1) * mx
    g%y0 = y * my
    g%y1 = (y + 1) * my
    allocate (g%u(g%x0 - 1:g%x1, g%y0 - 1:g%y1), g%f(g%x0 - 1:g%x1, g%y0 - 1:g%y1), source=0.0_dp)
  end subroutine

  ! The number of parts in x that makes them as square as possible.
  integer function parts_in_x(parts) result(px)
    integer, intent(in) :: parts
    px = 1
    do while (px * px < parts)
      px = 2 * px
    end do
  end function

  ! Part `number` of so many; the task of the first one has the rank `first_rank`. A host, number -1, has no points. The
  ! coarsest grid has `coarsest` meshes in a direction.
  subroutine make_part(p, coarsest, number, parts, first_rank)
    type(part), intent(out) :: p
    integer, intent(in) :: coarsest, number, parts, first_rank
    integer :: px, py, x, y, m, points
    px = parts_in_x(parts)
    py = parts / px
    x = modulo(number, px)
    y = number / px
    points = merge(0, 1, number < 0)
    m = coarsest
    do while (m <= n)
      p%levels = p%levels + 1
      call make_grid(p%grids(p%levels), m, points * m / px, points * m / py, x, y)
      m = 2 * m
    end do
    if (number < 0) return
    p%neighbours = first_rank + number + [-1, 1, -px, px]
    where ([x == 0, x == px - 1, y == 0, y == py - 1]) p%neighbours = -1
  end subroutine

  ! ---- exchange ----

  ! All points of a line go to the neighbours, also the last one, which belongs to a third task and nobody uses.
  subroutine exchange(p, g)
    type(part), intent(in) :: p
    type(grid), intent(inout) :: g
    call send_side(p, left, g%u(g%x0, g%y0:g%y1))
    call send_side(p, right, g%u(g%x1 - 1, g%y0:g%y1))
    call send_side(p, lower, g%u(g%x0:g%x1, g%y0))
    call send_side(p, upper, g%u(g%x0:g%x1, g%y1 - 1))
    call receive_side(p, left, g%u(g%x0 - 1, g%y0:g%y1))
    call receive_side(p, right, g%u(g%x1, g%y0:g%y1))
    call receive_side(p, lower, g%u(g%x0:g%x1, g%y0 - 1))
    call receive_side(p, upper, g%u(g%x0:g%x1, g%y1))
  end subroutine

  subroutine send_side(p, s, line)
    type(part), intent(in) :: p
    integer, intent(in) :: s
    real(dp), intent(in) :: line(:)
    if (p%neighbours(s) < 0) return
    side(1:size(line)) = line
    call team_send(p%neighbours(s), s, REAL8, side, size(line))
  end subroutine

  subroutine receive_side(p, s, line)
    type(part), intent(in) :: p
    integer, intent(in) :: s
    real(dp), intent(inout) :: line(:)
    if (p%neighbours(s) < 0) return
    call team_receive(p%neighbours(s), ieor(s, 1), REAL8, side, size(line))
    line = side(1:size(line))
  end subroutine

  ! ---- steps of a cycle ----

  ! Relaxes the points with mod(i + j, 2) == colour.
  subroutine relax(g, u, f, colour)
    type(grid), intent(in) :: g
    real(dp), intent(inout) :: u(g%x0 - 1:, g%y0 - 1:)
    real(dp), intent(in) :: f(g%x0 - 1:, g%y0 - 1:)
    integer, intent(in) :: colour
    integer :: i, j, first
    do j = max(g%y0, 1), g%y1 - 1
      first = max(g%x0, 1)
      do i = first + iand(first + j + colour, 1), g%x1 - 1, 2
        u(i, j) = 0.25_dp * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) + f(i, j))
      end do
    end do
  end subroutine

  subroutine smooth(p, g, sweeps)
    type(part), intent(in) :: p
    type(grid), intent(inout) :: g
    integer, intent(in) :: sweeps
    integer :: k
    do k = 0, 2 * sweeps - 1
      call relax_grid(g, modulo(k, 2))
      call exchange(p, g)
    end do
  end subroutine

  ! Two names for a grid and its array would be an alias; this takes the array out of it meanwhile.
  subroutine relax_grid(g, colour)
    type(grid), intent(inout) :: g
    integer, intent(in) :: colour
    real(dp), allocatable :: u(:, :)
    call move_alloc(g%u, u)
    call relax(g, u, g%f, colour)
    call move_alloc(u, g%u)
  end subroutine

  ! The residual by half weighting is the right side of the coarser grid, see pde2.c.
  subroutine restrict_residual(fine, coarse)
    type(grid), intent(in) :: fine
    type(grid), intent(inout) :: coarse
    integer :: i, j
    coarse%u = 0
    do j = max(coarse%y0, 1), coarse%y1 - 1
      do i = max(coarse%x0, 1), coarse%x1 - 1
        coarse%f(i, j) = 2 * (fine%f(2 * i, 2 * j) + (fine%u(2 * i - 1, 2 * j) + fine%u(2 * i + 1, 2 * j) + &
            fine%u(2 * i, 2 * j - 1) + fine%u(2 * i, 2 * j + 1)) - 4 * fine%u(2 * i, 2 * j))
      end do
    end do
  end subroutine

  ! Adds the coarse grid's solution to the fine grid's, linearly between the coarse points.
  subroutine add_interpolated(coarse, fine)
    type(grid), intent(in) :: coarse
    type(grid), intent(inout) :: fine
    real(dp) :: here, next
    integer :: i, j, low, high
    do j = max(fine%y0, 1), fine%y1 - 1
      low = j / 2
      high = low + modulo(j, 2)
      do i = coarse%x0, coarse%x1 - 1
        here = 0.5_dp * (coarse%u(i, low) + coarse%u(i, high))
        next = 0.5_dp * (coarse%u(i + 1, low) + coarse%u(i + 1, high))
        fine%u(2 * i, j) = fine%u(2 * i, j) + here ! 0 at the edge of the square
        fine%u(2 * i + 1, j) = fine%u(2 * i + 1, j) + 0.5_dp * (here + next)
      end do
    end do
  end subroutine

  ! ---- multigrid ----

  recursive subroutine cycle_v(p, level)
    type(part), intent(inout) :: p
    integer, intent(in) :: level
    if (level == 1) then
      call smooth(p, p%grids(1), 2 * p%grids(1)%n) ! so many sweeps are as good as a solution
      return
    end if
    call smooth(p, p%grids(level), sweeps_before)
    call restrict_residual(p%grids(level), p%grids(level - 1))
    call cycle_v(p, level - 1)
    call add_interpolated(p%grids(level - 1), p%grids(level))
    call exchange(p, p%grids(level))
    call smooth(p, p%grids(level), sweeps_after)
  end subroutine

  ! Full multigrid. With --verify, notes sums over its own points, or those that `watched` has: later cycles make up for
  ! an error in early ones.
  subroutine solve(p, watched)
    type(part), intent(inout) :: p
    type(part), intent(in), optional :: watched
    integer :: level, k
    call set_source(p%grids(1))
    call cycle_v(p, 1)
    do level = 2, p%levels
      call set_source(p%grids(level))
      call add_interpolated(p%grids(level - 1), p%grids(level))
      call exchange(p, p%grids(level))
      do k = 1, cycles
        call cycle_v(p, level)
        if (.not. options%verify .or. k > 1) cycle
        if (present(watched)) p%sums(level) = weighted_sum(p%grids(level), watched%grids(level))
        if (.not. present(watched)) p%sums(level) = weighted_sum(p%grids(level), p%grids(level))
      end do
    end do
  end subroutine

  ! ---- the problem ----

  ! Adds the product of sines of a mode, times `factor`.
  subroutine add_mode(g, values, mode, factor)
    type(grid), intent(in) :: g
    real(dp), intent(inout) :: values(g%x0 - 1:, g%y0 - 1:)
    integer, intent(in) :: mode
    real(dp), intent(in) :: factor
    real(dp) :: in_x(0:g%n)
    integer :: i, j
    in_x = [(sin(waves(1, mode) * pi * i / g%n), i=0, g%n)]
    do j = max(g%y0, 1), g%y1 - 1
      do i = max(g%x0, 1), g%x1 - 1
        values(i, j) = values(i, j) + factor * sin(waves(2, mode) * pi * j / g%n) * in_x(i)
      end do
    end do
  end subroutine

  ! h**2 f for a mode with amplitude 1.
  real(dp) function source_factor(mode, n)
    integer, intent(in) :: mode, n
    source_factor = (pi / n)**2 * sum(waves(:, mode)**2)
  end function

  subroutine set_source(g)
    type(grid), intent(inout) :: g
    real(dp), allocatable :: f(:, :)
    integer :: mode
    call move_alloc(g%f, f)
    f = 0
    do mode = 1, modes
      call add_mode(g, f, mode, amplitude(mode) * source_factor(mode, g%n))
    end do
    call move_alloc(f, g%f)
  end subroutine

  ! The amplitudes of the solution of the grid's equations.
  function grid_amplitude()
    real(dp) :: grid_amplitude(modes)
    integer :: mode
    do mode = 1, modes
      grid_amplitude(mode) = amplitude(mode) * source_factor(mode, n) / sum(4 * sin(waves(:, mode) * pi / 2 / n)**2)
    end do
  end function

  ! ---- what must come out ----

  ! A sum over the points that the other grid has, each with another weight.
  real(dp) function weighted_sum(g, points) result(total)
    type(grid), intent(in) :: g, points
    integer :: i, j
    total = 0
    do j = max(points%y0, 1), points%y1 - 1
      do i = max(points%x0, 1), points%x1 - 1
        total = total + g%u(i, j) * (2.0_dp * g%n + i + 0.3_dp * j)
      end do
    end do
  end function

  ! The larger one; a NaN is larger than any number.
  elemental real(dp) function worse(a, b)
    real(dp), intent(in) :: a, b
    worse = a
    if (.not. b <= a) worse = b
  end function

  ! The largest difference of a solution from the one with these amplitudes.
  real(dp) function difference(g, amplitudes) result(largest)
    type(grid), intent(in) :: g
    real(dp), intent(in) :: amplitudes(modes)
    real(dp), allocatable :: expected(:, :)
    integer :: i, j, mode
    allocate (expected(g%x0 - 1:g%x1, g%y0 - 1:g%y1), source=0.0_dp)
    do mode = 1, modes
      call add_mode(g, expected, mode, amplitudes(mode))
    end do
    largest = 0
    do j = max(g%y0, 1), g%y1 - 1
      do i = max(g%x0, 1), g%x1 - 1
        largest = worse(largest, abs(g%u(i, j) - expected(i, j)))
      end do
    end do
  end function

  ! The same by this task alone: the largest difference of own points at the end, or of the sums, relatively.
  real(dp) function difference_from_alone() result(largest)
    type(part), allocatable :: alone
    integer :: i, j, level
    allocate (alone)
    call make_part(alone, own%grids(1)%n, 0, 1, 0)
    call solve(alone, own)
    largest = 0
    associate (g => own%grids(own%levels))
      do j = max(g%y0, 1), g%y1 - 1
        do i = max(g%x0, 1), g%x1 - 1
          largest = worse(largest, abs(g%u(i, j) - alone%grids(alone%levels)%u(i, j)))
        end do
      end do
    end associate
    do level = 2, own%levels
      largest = worse(largest, abs(own%sums(level) - alone%sums(level)) / (abs(alone%sums(level)) + 1))
    end do
  end function

  ! The first task gets the largest of each result.
  subroutine collect
    real(dp) :: theirs(3)
    integer :: task
    if (team_rank > 0) then
      call team_send(0, tag_results, REAL8, results, 3)
      return
    end if
    do task = 1, team_size - 1
      call team_receive(task, tag_results, REAL8, theirs, 3)
      results = worse(results, theirs)
    end do
  end subroutine

  subroutine print_result
    character(len=10) :: verdict
    verdict = ''
    if (options%verify) verdict = merge(': correct ', ': WRONG   ', correct)
    print '(3(a, i0), 2(a, es9.3), a)', 'pde2 class ' // options%class // ': ', team_size, ' tasks, ', n, '^2 meshes, ', &
        own%levels, ' grids, ' // team_decimal(time_s, 4) // ' s, error ', results(1), ' of at most ', bound, &
        trim(verdict)
    if (options%verify) print '(4(a, es7.1))', 'difference from the solution of the equations ', results(2), &
        ' of at most ', 0.01_dp * bound, ', from one task alone ', results(3), ' of ', alone_max
  end subroutine
end program
