! ft - NAS parallel benchmark FT in Fortran: a diffusion equation, solved by fast Fourier transforms. ft.c describes it.
!
! Shows   an exchange among all tasks of large blocks, which arrive where they are needed.
! Build   pvmf90 -O3 -o ft ../kernels/team_command.f90 ../kernels/team.f90 nas_random.f90 nas_fft.f90 ft.f90
! Run     ./ft --class S --tasks 4 --verify --stats
program ft
  use team
  use nas_random
  use nas_fft
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none
  integer, parameter :: steps = 6, terms = 1024, tag_block = 1, tag_sum = 2
  integer(int64), parameter :: seed = 314159265
  real(dp), parameter :: tolerance = 1e-12_dp ! NAS's, of the sums
  real(dp), parameter :: pi = acos(-1.0_dp)

  type(team_options) :: options
  logical :: home                       ! whether the spectrum is kept in slabs of planes
  integer :: nx, ny, nz
  integer :: planes, rows               ! of each task, in its slab of planes and its slab of rows
  integer :: block                      ! points that a task sends to each
  complex(dp) :: sums(steps), right_sums(steps)
  complex(dp), allocatable :: spectrum(:), a(:), b(:)
  complex(dp), allocatable :: roots_x(:), roots_y(:), roots_z(:)
  real(dp), allocatable :: gauss_x(:), gauss_y(:), gauss_z(:)
  real(dp) :: time_s
  logical :: right
  character(len=10) :: verdict
  integer :: t

  call team_start(team_kernel('ft', 'NAS FT: a diffusion equation, solved by fast Fourier transforms.', 'SWAT', &
      'S 64x64x64, W 128x128x32, A 256x256x128; T as S, with every transform''s data moved back', .true.), options)
  call choose_problem
  call divide
  call team_clock_start
  call solve
  call team_clock_stop(time_s)
  right = .true.
  verdict = ''
  if (team_rank == 0) then
    if (options%verify) right = maxval(abs(sums - right_sums) / abs(right_sums)) <= tolerance
    if (options%verify) verdict = merge(': correct ', ': WRONG   ', right)
    do t = 1, steps
      print '(a, i0, a, es18.12, 1x, es18.12)', 'step ', t, ': sum ', sums(t)
    end do
    print '(a, i0, a)', 'ft class ' // options%class // ': ', team_size, ' tasks, ' // team_decimal(time_s, 4) // ' s' // &
        trim(verdict)
  end if
  if (options%stats) call team_report
  call team_end(right)

contains

  subroutine choose_problem
    home = options%class == 'T'
    select case (options%class)
    case ('W')
      nx = 128; ny = 128; nz = 32
      right_sums = [(567.3612178944_dp, 529.3246849175_dp), (563.1436885271_dp, 528.2149986629_dp), &
          (559.4024089970_dp, 527.0996558037_dp), (556.0698047020_dp, 526.0027904925_dp), &
          (553.0898991250_dp, 524.9400845633_dp), (550.4159734538_dp, 523.9212247086_dp)]
    case ('A')
      nx = 256; ny = 256; nz = 128
      right_sums = [(504.6735008193_dp, 511.4047905510_dp), (505.9412319734_dp, 509.8809666433_dp), &
          (506.9376896287_dp, 509.8144042213_dp), (507.7892868474_dp, 510.1336130759_dp), &
          (508.5233095391_dp, 510.4914655194_dp), (509.1487099959_dp, 510.7917842803_dp)]
    case default
      nx = 64; ny = 64; nz = 64
      right_sums = [(554.6087004964_dp, 484.5363331978_dp), (554.6385409189_dp, 486.5304269511_dp), &
          (554.6148406171_dp, 488.3910722336_dp), (554.5423607415_dp, 490.1273169046_dp), &
          (554.4255039624_dp, 491.7475857993_dp), (554.2683411902_dp, 493.2597244941_dp)]
    end select
  end subroutine

  subroutine divide
    if (modulo(nz, team_size) /= 0) call team_fail('there are fewer planes than tasks')
    planes = nz / team_size
    rows = ny / team_size
    block = nx * rows * planes
    allocate (spectrum(block * team_size), a(block * team_size), b(block * team_size), source=(0.0_dp, 0.0_dp))
    roots_x = fft_roots(nx)
    roots_y = fft_roots(ny)
    roots_z = fft_roots(nz)
    gauss_x = gaussian(nx)
    gauss_y = gaussian(ny)
    gauss_z = gaussian(nz)
  end subroutine

  ! exp(-4 alpha pi**2 k**2) for the wave numbers k of one direction.
  function gaussian(n) result(values)
    integer, intent(in) :: n
    real(dp) :: values(0:n - 1)
    integer :: i
    values = [(exp(-4e-6_dp * pi**2 * real(modulo(i + n / 2, n) - n / 2, dp)**2), i=0, n - 1)]
  end function

  ! ---- transforms ----

  ! Rows and columns of a slab of planes; the result is in blocks, each of which has the rows for one task.
  subroutine transform_planes(slab, blocks)
    complex(dp), intent(inout) :: slab(0:nx - 1, 0:ny - 1, planes)
    complex(dp), intent(inout) :: blocks(0:nx - 1, 0:rows - 1, planes, 0:team_size - 1)
    complex(dp) :: batch(fft_batch, 0:ny - 1)
    integer :: p, x, y
    do p = 1, planes
      call transform_rows(slab(0, 0, p), .false.)
      do x = 0, nx - 1, fft_batch
        batch = slab(x:x + fft_batch - 1, :, p)
        call fft(batch, ny, roots_y, .false.)
        do y = 0, ny - 1
          blocks(x:x + fft_batch - 1, modulo(y, rows), p, y / rows) = batch(:, y)
        end do
      end do
    end do
  end subroutine

  subroutine transform_planes_back(blocks, slab)
    complex(dp), intent(in) :: blocks(0:nx - 1, 0:rows - 1, planes, 0:team_size - 1)
    complex(dp), intent(inout) :: slab(0:nx - 1, 0:ny - 1, planes)
    complex(dp) :: batch(fft_batch, 0:ny - 1)
    integer :: p, x, y
    do p = 1, planes
      do x = 0, nx - 1, fft_batch
        do y = 0, ny - 1
          batch(:, y) = blocks(x:x + fft_batch - 1, modulo(y, rows), p, y / rows)
        end do
        call fft(batch, ny, roots_y, .true.)
        slab(x:x + fft_batch - 1, :, p) = batch
      end do
      call transform_rows(slab(0, 0, p), .true.)
    end do
  end subroutine

  subroutine transform_rows(plane, inverse)
    complex(dp), intent(inout) :: plane(0:nx - 1, 0:ny - 1)
    logical, intent(in) :: inverse
    complex(dp) :: batch(fft_batch, 0:nx - 1)
    integer :: y
    do y = 0, ny - 1, fft_batch
      batch = transpose(plane(:, y:y + fft_batch - 1))
      call fft(batch, nx, roots_x, inverse)
      plane(:, y:y + fft_batch - 1) = transpose(batch)
    end do
  end subroutine

  ! A slab of rows along z.
  subroutine transform_across(inverse, from, to)
    logical, intent(in) :: inverse
    complex(dp), intent(in) :: from(0:nx * rows - 1, 0:nz - 1)
    complex(dp), intent(inout) :: to(0:nx * rows - 1, 0:nz - 1)
    complex(dp) :: batch(fft_batch, 0:nz - 1)
    integer :: i
    do i = 0, nx * rows - 1, fft_batch
      batch = from(i:i + fft_batch - 1, :)
      call fft(batch, nz, roots_z, inverse)
      to(i:i + fft_batch - 1, :) = batch
    end do
  end subroutine

  ! From blocks to a slab of rows, or back: each task's block lies where its planes, or its rows, do.
  subroutine exchange(from, to)
    complex(dp), intent(in) :: from(block, 0:team_size - 1)
    complex(dp), intent(inout) :: to(block, 0:team_size - 1)
    integer :: step, rank
    do step = 1, team_size - 1
      rank = modulo(team_rank + step, team_size)
      call team_send(rank, tag_block, COMPLEX16, from(1, rank), block)
    end do
    to(:, team_rank) = from(:, team_rank)
    do step = 1, team_size - 1
      rank = modulo(team_rank - step, team_size)
      call team_receive(rank, tag_block, COMPLEX16, to(1, rank), block)
    end do
  end subroutine

  ! ---- the equation ----

  subroutine start(slab)
    complex(dp), intent(out) :: slab(:)
    integer(int64) :: state
    real(dp) :: re, im
    integer :: i
    state = random_after(seed, 2_int64 * nx * ny * planes * team_rank)
    do i = 1, size(slab)
      re = random_next(state)
      im = random_next(state)
      slab(i) = cmplx(re, im, dp)
    end do
  end subroutine

  ! One step of time for some rows of the spectrum, from y and z on.
  subroutine evolve_rows(part, y, z)
    complex(dp), intent(inout) :: part(nx, rows)
    integer, intent(in) :: y, z
    integer :: r
    do r = 1, rows
      part(:, r) = part(:, r) * (gauss_y(y + r) * gauss_z(z) * gauss_x)
    end do
  end subroutine

  ! The spectrum is in a slab of rows or, if it is at home, in blocks.
  subroutine evolve
    integer :: i, z, owner
    do i = 0, nz - 1
      z = 1 + i
      owner = team_rank
      if (home) then
        owner = i / planes
        z = 1 + planes * team_rank + modulo(i, planes)
      end if
      call evolve_rows(spectrum(nx * rows * i + 1), rows * owner, z)
    end do
  end subroutine

  ! The sum of some numbers, complete at the first task.
  function checksum(slab) result(total)
    complex(dp), intent(in) :: slab(0:nx - 1, 0:ny - 1, 0:planes - 1)
    complex(dp) :: total, theirs
    integer :: j, p, rank
    total = 0
    do j = 1, terms
      p = modulo(5 * j, nz) - planes * team_rank
      if (p >= 0 .and. p < planes) total = total + slab(modulo(j, nx), modulo(3 * j, ny), p)
    end do
    if (team_rank > 0) then
      call team_send(0, tag_sum, COMPLEX16, total, 1)
    else
      do rank = 1, team_size - 1
        call team_receive(rank, tag_sum, COMPLEX16, theirs, 1)
        total = total + theirs
      end do
    end if
    total = total / (real(nx, dp) * ny * nz)
  end function

  subroutine solve
    call start(a)
    call transform_planes(a, b)
    call exchange(b, a)
    call transform_across(.false., a, spectrum)
    if (home) then
      call exchange(spectrum, b)
      spectrum = b
    end if
    do t = 1, steps
      call evolve
      if (home) then
        call exchange(spectrum, b)
        call transform_across(.true., b, a)
      else
        call transform_across(.true., spectrum, a)
      end if
      call exchange(a, b)
      call transform_planes_back(b, a)
      sums(t) = checksum(a)
    end do
  end subroutine
end program
