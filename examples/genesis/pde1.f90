! pde1 - PDE1 of the GENESIS suite in Fortran: red-black relaxation of Poisson's equation in three dimensions. pde1.c
! describes it.
!
! Shows   a decomposition in two directions, exchange of neighbours, sections of arrays as messages.
! Build   pvmf90 -O3 -o pde1 ../kernels/team_command.f90 ../kernels/team.f90 pde1.f90
! Run     ./pde1 --class S --tasks 4 --verify --stats
program pde1
  use team
  implicit none
  integer, parameter :: red = 0, black = 1, modes = 3, waves_max = 4
  integer, parameter :: below = 0, above = 1, front = 2, back = 3 ! sides in -z, +z, -y, +y; side i touches ieor(i, 1)
  integer, parameter :: tag_results = 8
  real(dp), parameter :: pi = acos(-1.0_dp), tolerance = 1e-11_dp
  ! The solution: the sum over m of amplitude(m) sin(waves(1, m) pi x) sin(waves(2, m) pi y) sin(waves(3, m) pi z).
  real(dp), parameter :: amplitude(modes) = [1.0_dp, 0.5_dp, -0.25_dp]
  integer, parameter :: waves(3, modes) = reshape([1, 1, 1, 2, 3, 1, 1, 2, 4], [3, modes])

  type(team_options) :: options
  integer :: n, iterations, half, y0, y1, z0, z1 ! own rows y0 .. y1 and planes z0 .. z1; a row has half its points
  integer :: neighbours(0:3)                     ! in each colour. Ranks, or -1 at the surface of the cube
  real(dp), allocatable :: u(:, :, :, :), f(:, :, :, :) ! with a halo; f is h**2 times the right side. Last index: colour
  real(dp), allocatable :: kept(:, :, :, :)      ! with --verify, u half way
  real(dp), allocatable :: side(:, :), sines(:, :)
  real(dp) :: expected_half_way(modes, 0:1), expected_at_end(modes, 0:1) ! of each mode's red and black points
  real(dp) :: half_way = 0, at_end = 0, error = 0, time_s                ! differences
  logical :: right

  call team_start(team_kernel('pde1', 'GENESIS PDE1: Poisson''s equation in three dimensions by red-black relaxation.', &
      'SWAT', 'S (32**3 points, 180 iterations), W (96**3, 520), A (160**3, 860), T (64**3, 350: messages of the thesis)', &
      host_class='T'), options)
  call choose_problem
  call make_bar
  call set_source
  if (options%verify) allocate (kept, mold=u)
  if (options%verify) kept = 0 ! uses the memory
  call team_clock_start
  call iterate
  call collect ! the program has messages with results; ours are known only after the clock
  call team_clock_stop(time_s)
  error = difference(u, spread(amplitude, 2, 2))
  if (options%verify) half_way = difference(kept, expected_half_way)
  if (options%verify) at_end = difference(u, expected_at_end)
  call collect
  right = half_way <= tolerance .and. at_end <= tolerance .and. error <= error_bound() + tolerance
  if (team_rank == 0) call print_result
  if (options%stats) call team_report
  call team_end(right .or. .not. options%verify)

contains

  ! The first task tells all others the size, as the hosts of GENESIS do.
  subroutine choose_problem
    integer :: problem(2)
    select case (options%class)
    case ('S')
      problem = [32, 180]
    case ('W')
      problem = [96, 520]
    case ('A')
      problem = [160, 860]
    case default
      problem = [64, 350]
    end select
    call team_broadcast(INTEGER4, problem, 2)
    n = problem(1)
    iterations = problem(2)
    half = n / 2
  end subroutine

  ! ---- the grid ----

  ! Cuts the cube into bars as square as their number allows. In class T the first task is a host without a bar.
  subroutine make_bar
    integer :: hosts, bars, number, py, pz, y, z
    hosts = merge(1, 0, options%class == 'T' .and. team_size > 1)
    bars = team_size - hosts
    number = team_rank - hosts
    py = bars_in_y(bars)
    pz = bars / py
    if (pz > n) call team_fail('there are too many tasks for so few rows')
    y = modulo(number, py)
    z = number / py
    y0 = y * n / py + 1
    y1 = (y + 1) * n / py
    z0 = z * n / pz + 1
    z1 = (z + 1) * n / pz
    neighbours = [team_rank - py, team_rank + py, team_rank - 1, team_rank + 1]
    where ([z == 0, z == pz - 1, y == 0, y == py - 1]) neighbours = -1
    if (number < 0) then
      z1 = z0 - 1
      neighbours = -1
    end if
    allocate (u(0:half + 1, y0 - 1:y1 + 1, z0 - 1:z1 + 1, 0:1), source=0.0_dp)
    allocate (f(0:half + 1, y0 - 1:y1 + 1, z0 - 1:z1 + 1, 0:1), source=0.0_dp)
    allocate (side(half * max(y1 - y0 + 1, z1 - z0 + 1), 0:3))
  end subroutine

  integer function bars_in_y(bars) result(py)
    integer, intent(in) :: bars
    integer :: p
    py = 1
    do p = 1, bars
      if (p * p <= bars .and. modulo(bars, p) == 0) py = p
    end do
  end function

  ! Whether the points of this colour in row (j, k) are those with odd x (0) or even x (1).
  integer function shift(colour, j, k)
    integer, intent(in) :: colour, j, k
    shift = iand(1 + j + k + colour, 1)
  end function

  ! ---- the problem ----

  ! h**2 f for each mode with this amplitude
  real(dp) function source_of(mode)
    integer, intent(in) :: mode
    source_of = amplitude(mode) * (pi / (n + 1))**2 * sum(waves(:, mode)**2)
  end function

  ! The mean of a mode's six neighbours is the mode itself, times this.
  real(dp) function mean_factor(mode)
    integer, intent(in) :: mode
    mean_factor = sum(cos(waves(:, mode) * pi / (n + 1))) / 3
  end function

  ! The sum of all modes with these amplitudes at a point.
  real(dp) function sum_of_modes(amplitudes, i, j, k) result(total)
    real(dp), intent(in) :: amplitudes(modes)
    integer, intent(in) :: i, j, k
    integer :: m
    total = 0
    do m = 1, modes
      total = total + amplitudes(m) * sines(i, waves(1, m)) * sines(j, waves(2, m)) * sines(k, waves(3, m))
    end do
  end function

  subroutine set_source
    real(dp) :: sources(modes)
    integer :: i, j, k, colour, m
    allocate (sines(n, waves_max))
    do m = 1, waves_max
      sines(:, m) = [(sin(m * pi * i / (n + 1)), i=1, n)]
    end do
    sources = [(source_of(m), m=1, modes)]
    do colour = red, black
      do k = z0, z1
        do j = y0, y1
          do i = 1, half
            f(i, j, k, colour) = sum_of_modes(sources, 2 * i - 1 + shift(colour, j, k), j, k)
          end do
        end do
      end do
    end do
  end subroutine

  ! ---- the iteration ----

  subroutine relax(own, other, f, colour, omega)
    real(dp), intent(inout) :: own(0:, y0 - 1:, z0 - 1:)
    real(dp), intent(in) :: other(0:, y0 - 1:, z0 - 1:), f(0:, y0 - 1:, z0 - 1:), omega
    integer, intent(in) :: colour
    integer :: j, k, s
    do k = z0, z1
      do j = y0, y1
        s = shift(colour, j, k)
        own(1:half, j, k) = own(1:half, j, k) + omega * ((other(s:half - 1 + s, j, k) + other(1 + s:half + s, j, k) + &
            other(1:half, j - 1, k) + other(1:half, j + 1, k) + other(1:half, j, k - 1) + other(1:half, j, k + 1) + &
            f(1:half, j, k)) * (1.0_dp / 6) - own(1:half, j, k))
      end do
    end do
  end subroutine

  ! The points of one colour on all sides go to the neighbours, theirs come into the halo.
  subroutine exchange(u, colour)
    real(dp), intent(inout) :: u(0:, y0 - 1:, z0 - 1:)
    integer, intent(in) :: colour
    integer :: tag
    tag = 4 * colour
    call send_side(below, tag, u(1:half, y0:y1, z0))
    call send_side(above, tag, u(1:half, y0:y1, z1))
    call send_side(front, tag, u(1:half, y0, z0:z1))
    call send_side(back, tag, u(1:half, y1, z0:z1))
    call receive_side(below, tag, u(1:half, y0:y1, z0 - 1))
    call receive_side(above, tag, u(1:half, y0:y1, z1 + 1))
    call receive_side(front, tag, u(1:half, y0 - 1, z0:z1))
    call receive_side(back, tag, u(1:half, y1 + 1, z0:z1))
  end subroutine

  subroutine send_side(s, tag, values)
    integer, intent(in) :: s, tag
    real(dp), intent(in) :: values(:, :)
    if (neighbours(s) < 0) return
    side(1:size(values), s) = reshape(values, [size(values)])
    call team_send(neighbours(s), tag + s, REAL8, side(1, s), size(values))
  end subroutine

  subroutine receive_side(s, tag, values)
    integer, intent(in) :: s, tag
    real(dp), intent(inout) :: values(:, :)
    if (neighbours(s) < 0) return
    call team_receive(neighbours(s), tag + ieor(s, 1), REAL8, side(1, s), size(values))
    values = reshape(side(1:size(values), s), shape(values))
  end subroutine

  ! Notes what the iterations must have made of each mode's red and black points half way and at the end. With --verify,
  ! keeps the points half way: comparing them takes as long as some iterations, so it waits until the clock has stopped.
  subroutine iterate
    real(dp) :: omega, rho, predicted(modes, 0:1)
    integer :: i, colour, m
    rho = cos(pi / (n + 1))
    omega = 1
    predicted = 0
    do i = 1, iterations
      do colour = red, black
        if (i == 1 .and. colour == black) then
          omega = 1 / (1 - rho**2 / 2)
        else if (i > 1) then
          omega = 1 / (1 - rho**2 * omega / 4)
        end if
        call relax(u(:, :, :, colour), u(:, :, :, 1 - colour), f(:, :, :, colour), colour, omega)
        call exchange(u(:, :, :, colour), colour)
        do m = 1, modes
          predicted(m, colour) = predicted(m, colour) + omega * (mean_factor(m) * predicted(m, 1 - colour) + &
              source_of(m) / 6 - predicted(m, colour))
        end do
      end do
      if (i /= half + 1) cycle
      expected_half_way = predicted
      if (options%verify) kept = u
    end do
    expected_at_end = predicted
  end subroutine

  ! ---- what must come out ----

  ! The larger one; a NaN is larger than any number.
  real(dp) function worse(a, b)
    real(dp), intent(in) :: a, b
    worse = a
    if (.not. b <= a) worse = b
  end function

  ! The largest difference of points of this bar, now or kept, from the modes with these amplitudes.
  real(dp) function difference(points, amplitudes) result(largest)
    real(dp), intent(in) :: points(0:, y0 - 1:, z0 - 1:, 0:)
    real(dp), intent(in) :: amplitudes(modes, 0:1)
    integer :: i, j, k, colour
    largest = 0
    do colour = red, black
      do k = z0, z1
        do j = y0, y1
          do i = 1, half
            largest = worse(largest, abs(points(i, j, k, colour) - &
                sum_of_modes(amplitudes(:, colour), 2 * i - 1 + shift(colour, j, k), j, k)))
          end do
        end do
      end do
    end do
  end function

  ! The most that the error can be if the equations of the grid are solved.
  real(dp) function error_bound()
    integer :: m
    error_bound = 0
    do m = 1, modes
      error_bound = error_bound + abs(source_of(m) / 6 / (1 - mean_factor(m)) - amplitude(m))
    end do
  end function

  ! The first task gets the largest of each result.
  subroutine collect
    real(dp) :: results(3)
    integer :: task
    results = [half_way, at_end, error]
    if (team_rank > 0) then
      call team_send(0, tag_results, REAL8, results, 3)
      return
    end if
    do task = 1, team_size - 1
      call team_receive(task, tag_results, REAL8, results, 3)
      half_way = worse(half_way, results(1))
      at_end = worse(at_end, results(2))
      error = worse(error, results(3))
    end do
  end subroutine

  subroutine print_result
    character(len=10) :: verdict
    verdict = ''
    if (options%verify) verdict = merge(': correct ', ': WRONG   ', right)
    print '(3(a, i0), 2(a, es9.3), a)', 'pde1 class ' // options%class // ': ', team_size, ' tasks, ', n, '^3 points, ', &
        iterations, ' iterations, ' // team_decimal(time_s, 4) // ' s, error ', error, ' of at most ', error_bound(), &
        trim(verdict)
    if (options%verify) print '(3(a, es7.1))', 'difference from what must come out: half way ', half_way, &
        ', at the end ', at_end, ', of at most ', tolerance
  end subroutine
end program
