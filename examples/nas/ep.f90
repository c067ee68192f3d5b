! ep - NAS parallel benchmark EP in Fortran: pairs of Gaussian random numbers, counted by size. ep.c describes it.
!
! Shows   a computation without messages, and a team of Fortran tasks.
! Build   pvmf90 -O2 -o ep ../kernels/team_command.f90 ../kernels/team.f90 nas_random.f90 ep.f90
! Run     ./ep --class S --tasks 4 --verify --stats
program ep
  use team
  use nas_random
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none
  integer, parameter :: batch_pairs = 2**16
  integer(int64), parameter :: seed = 271828183
  type(team_options) :: options
  integer :: log2_pairs
  integer(int64) :: right_pairs
  real(dp) :: right_sx, right_sy, time_s
  real(dp) :: result(12) ! sums of x and y, and the pairs by size
  logical :: right
  character(len=10) :: verdict

  call team_start(team_kernel('ep', 'NAS EP: pairs of Gaussian random numbers.', 'SWAT', &
      'S (2^24 pairs), W (2^25), A (2^28); T is S'), options)
  call choose_problem
  call team_clock_start
  call compute
  call team_clock_stop(time_s)
  call team_sum(result)
  right = is_close(result(1), right_sx) .and. is_close(result(2), right_sy) .and. &
      nint(sum(result(3:)), int64) == right_pairs
  verdict = ''
  if (options%verify) verdict = merge(': correct ', ': WRONG   ', right)
  if (team_rank == 0) print '(2(a, i0), a)', 'ep class ' // options%class // ': ', team_size, ' tasks, ' // &
      team_decimal(time_s, 4) // ' s, sums ' // team_decimal(result(1), 9) // ' ' // team_decimal(result(2), 9) // &
      ' of ', nint(sum(result(3:)), int64), ' pairs' // trim(verdict)
  if (options%stats) call team_report
  call team_end(right .or. .not. options%verify)

contains

  ! NAS's values; a right sum differs by at most 1e-8 of it.
  subroutine choose_problem
    select case (options%class)
    case ('S', 'T')
      log2_pairs = 24
      right_sx = -3.247834652034740e+3_dp
      right_sy = -6.958407078382297e+3_dp
      right_pairs = 13176389
    case ('W')
      log2_pairs = 25
      right_sx = -2.863319731645753e+3_dp
      right_sy = -6.320053679109499e+3_dp
      right_pairs = 26354769
    case default
      log2_pairs = 28
      right_sx = -4.295875165629892e+3_dp
      right_sy = -1.580732573678431e+4_dp
      right_pairs = 210832767
    end select
  end subroutine

  logical function is_close(value, expected)
    real(dp), intent(in) :: value, expected
    is_close = abs((value - expected) / expected) <= 1e-8_dp
  end function

  integer function first_batch(rank)
    integer, intent(in) :: rank
    first_batch = int(rank * 2_int64**log2_pairs / batch_pairs / team_size)
  end function

  subroutine count_batch(batch)
    integer, intent(in) :: batch
    integer(int64) :: state
    real(dp) :: x, y, t, s
    integer :: k, l
    state = random_after(seed, 2_int64 * batch_pairs * batch)
    do k = 1, batch_pairs
      x = 2 * random_next(state) - 1
      y = 2 * random_next(state) - 1
      t = x**2 + y**2
      if (t > 1) cycle
      s = sqrt(-2 * log(t) / t)
      l = int(max(abs(x * s), abs(y * s)))
      result(1) = result(1) + x * s
      result(2) = result(2) + y * s
      result(3 + l) = result(3 + l) + 1
    end do
  end subroutine

  subroutine compute
    integer :: batch
    result = 0
    do batch = first_batch(team_rank), first_batch(team_rank + 1) - 1
      call count_batch(batch)
    end do
  end subroutine
end program
