! cg - NAS parallel benchmark CG in Fortran: the smallest eigenvalue of a sparse matrix, by inverse iteration and
! conjugate gradients. cg.c describes it.
!
! Shows   a matrix dealt by rows, a vector that all tasks make whole, sums of few bytes: short messages beside long.
! Build   pvmf90 -O2 -o cg ../kernels/team_command.f90 ../kernels/team.f90 nas_random.f90 cg_matrix.f90 cg.f90
! Run     ./cg --class S --tasks 4 --verify --stats
program cg
  use team
  use cg_matrix
  implicit none
  integer, parameter :: steps = 25, tag_count = 1, tag_rows = 2
  type(team_options) :: options
  integer :: n, nonzeros, own, rank
  integer, parameter :: iterations = 15
  real(dp) :: shift, right_zeta, zeta, residual, time_s
  integer, allocatable :: first(:)             ! each task's rows begin after first(rank)
  integer, allocatable :: start(:), column(:)  ! the matrix: of the first task the whole one, of others their rows
  real(dp), allocatable :: element(:)
  real(dp), allocatable :: whole(:)            ! the n elements of p or z, for products with the matrix
  real(dp), allocatable :: x(:), z(:), r(:), p(:), q(:) ! own elements
  logical :: right
  character(len=10) :: verdict

  call team_start(team_kernel('cg', 'NAS CG: the smallest eigenvalue of a sparse matrix, by conjugate gradients.', &
      'SWAT', 'S (1400 rows), W (7000), A (14000); T, the thesis''s, is S'), options)
  call choose_problem
  if (team_size > n) call team_fail('there are too many tasks for so few rows')
  first = [(int(int(rank, 8) * n / team_size), rank=0, team_size)]
  own = part_end(team_rank) - part_begin(team_rank) + 1
  allocate (whole(n), x(own), z(own), r(own), p(own), q(own))
  call deal_rows
  call team_clock_start
  call iterate
  call team_clock_stop(time_s)
  right = abs(zeta - right_zeta) <= 1e-10_dp
  verdict = ''
  if (options%verify) verdict = merge(': correct ', ': WRONG   ', right)
  if (team_rank == 0) print '(a, i0, a, es8.2, a)', 'cg class ' // options%class // ': ', team_size, ' tasks, ' // &
      team_decimal(time_s, 4) // ' s, zeta ' // team_decimal(zeta, 13) // ', residual ', residual, trim(verdict)
  if (options%stats) call team_report
  call team_end(right .or. .not. options%verify)

contains

  ! NAS's values; a right zeta differs by at most 1e-10.
  subroutine choose_problem
    select case (options%class)
    case ('S', 'T')
      n = 1400
      nonzeros = 7
      shift = 10
      right_zeta = 8.5971775078648_dp
    case ('W')
      n = 7000
      nonzeros = 8
      shift = 12
      right_zeta = 10.362595087124_dp
    case default
      n = 14000
      nonzeros = 11
      shift = 20
      right_zeta = 17.130235054029_dp
    end select
  end subroutine

  integer function part_begin(rank)
    integer, intent(in) :: rank
    part_begin = first(rank + 1) + 1 ! first has lower bound 1
  end function

  integer function part_end(rank)
    integer, intent(in) :: rank
    part_end = first(rank + 2)
  end function

  ! ---- dealing the rows ----

  subroutine send_rows(to)
    integer, intent(in) :: to
    integer :: begin, last, count
    begin = part_begin(to)
    last = part_end(to)
    count = start(last + 1) - start(begin)
    call team_send(to, tag_count, INTEGER4, count, 1)
    call team_message
    call team_pack(INTEGER4, start(begin), last - begin + 2, 1)
    call team_pack(INTEGER4, column(start(begin)), count, 1)
    call team_pack(REAL8, element(start(begin)), count, 1)
    call team_post(to, tag_rows)
  end subroutine

  subroutine receive_rows
    integer :: count
    call team_receive(0, tag_count, INTEGER4, count, 1)
    allocate (start(own + 1), column(count), element(count))
    call team_take(0, tag_rows)
    call team_unpack(INTEGER4, start, own + 1, 1)
    call team_unpack(INTEGER4, column, count, 1)
    call team_unpack(REAL8, element, count, 1)
    start = start - (start(1) - 1)
  end subroutine

  ! The first task keeps the whole matrix, and uses its first rows.
  subroutine deal_rows
    integer :: to
    if (team_rank > 0) then
      call receive_rows
      return
    end if
    call make_matrix(n, nonzeros, shift, start, column, element)
    do to = 1, team_size - 1
      call send_rows(to)
    end do
  end subroutine

  ! ---- vectors ----

  ! y = A v, where v and y are the task's own parts.
  subroutine multiply(v, y)
    real(dp), intent(in) :: v(:)
    real(dp), intent(out) :: y(:)
    real(dp) :: total
    integer :: row, k
    whole(part_begin(team_rank):part_end(team_rank)) = v
    call team_share(whole, first)
    do row = 1, own
      total = 0
      do k = start(row), start(row + 1) - 1
        total = total + element(k) * whole(column(k))
      end do
      y(row) = total
    end do
  end subroutine

  real(dp) function inner(a, b)
    real(dp), intent(in) :: a(:), b(:)
    inner = dot_product(a, b)
    call team_sum(inner)
  end function

  ! ---- the method ----

  ! A step of the conjugate gradient method: improves z, of whose residual rho is the square.
  subroutine step(rho)
    real(dp), intent(inout) :: rho
    real(dp) :: alpha, rho_next
    call multiply(p, q)
    alpha = rho / inner(p, q)
    z = z + alpha * p
    r = r - alpha * q
    rho_next = inner(r, r)
    p = r + rho_next / rho * p
    rho = rho_next
  end subroutine

  ! Solves A z = x.
  subroutine solve
    real(dp) :: rho
    integer :: k
    z = 0
    r = x
    p = x
    rho = inner(r, r)
    do k = 1, steps
      call step(rho)
    end do
    call multiply(z, r)
    r = x - r
    residual = sqrt(inner(r, r))
  end subroutine

  subroutine iterate
    real(dp) :: sums(2)
    integer :: k
    x = 1
    do k = 1, iterations
      call solve
      sums = [dot_product(x, z), dot_product(z, z)]
      call team_sum(sums)
      zeta = shift + 1 / sums(1)
      x = z / sqrt(sums(2))
    end do
  end subroutine
end program
