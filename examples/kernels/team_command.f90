! team_command - the command line of a Fortran kernel, for team.f90: problem class, number of tasks, what to print.
module team_command
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  private
  public :: team_kernel, team_options, parse_options, tasks_max

  integer, parameter :: tasks_default = 4, tasks_max = 256

  ! What differs between kernels.
  type :: team_kernel
    character(len=16) :: name
    character(len=80) :: purpose       ! one line for --help
    character(len=8) :: classes        ! letters, the default first, as "SWA"
    character(len=160) :: class_help   ! their sizes, for --help
    logical :: power_of_two = .false.  ! only such numbers of tasks are possible
    character :: host_class = ' '      ! in this class the first task is a host, which does not count among them
  end type

  ! The command line.
  type :: team_options
    character :: class
    integer :: tasks
    logical :: verify = .false. ! print whether the result is right; if it is wrong the program stops with 1
    logical :: stats = .false.  ! call team_report
  end type

  character(len=16) :: program_name = 'team'

contains

  subroutine print_help(kernel)
    type(team_kernel), intent(in) :: kernel
    print '(a)', 'Usage: ' // trim(kernel%name) // ' [OPTION...]', trim(kernel%purpose), '', &
        '  -c, --class=CLASS   Problem class', '  -t, --tasks=N       N tasks (4)', &
        '  -v, --verify        Check the result; exit status 1 if it is wrong', &
        '  -s, --stats         Print messages, their sizes, and the time in communication', &
        '  -?, --help          Give this help list', '', 'Classes: ' // trim(kernel%class_help)
    if (kernel%power_of_two) print '(a)', 'Tasks: a power of two'
    if (.not. kernel%power_of_two) print '(a)', 'Tasks: any number'
    if (kernel%host_class /= ' ') print '(a)', 'In class ' // kernel%host_class // ' one more (5), the host.'
    stop
  end subroutine

  subroutine refuse(text)
    character(len=*), intent(in) :: text
    write (error_unit, '(a)') trim(program_name) // ': ' // text, &
        'Try `' // trim(program_name) // ' --help'' for more information.'
    stop 64, quiet=.true.
  end subroutine

  ! The value of an option: what follows "=", or else the next argument.
  subroutine take_value(argument, at, value)
    character(len=*), intent(in) :: argument
    integer, intent(inout) :: at
    character(len=*), intent(out) :: value
    integer :: equals
    equals = index(argument, '=')
    if (equals > 0) then
      value = argument(equals + 1:)
      return
    end if
    at = at + 1
    if (at > command_argument_count()) call refuse('option "' // trim(argument) // '" needs a value')
    call get_command_argument(at, value)
  end subroutine

  subroutine set_tasks(options, text)
    type(team_options), intent(inout) :: options
    character(len=*), intent(in) :: text
    integer :: status
    read (text, *, iostat=status) options%tasks
    if (status /= 0) options%tasks = 0
    if (options%tasks < 1 .or. options%tasks > tasks_max) &
        call refuse('"' // trim(text) // '" is not a number of tasks from 1 to 256')
  end subroutine

  ! When all options are known: the number of tasks depends on the class.
  subroutine check_tasks(kernel, options)
    type(team_kernel), intent(in) :: kernel
    type(team_options), intent(inout) :: options
    character(len=12) :: number
    integer :: hosts
    hosts = merge(1, 0, options%class == kernel%host_class)
    if (options%tasks == 0) options%tasks = tasks_default + hosts
    if (options%tasks == 1) hosts = 0
    write (number, '(i0)') options%tasks
    if (kernel%power_of_two .and. popcnt(options%tasks - hosts) /= 1) call refuse(trim(number) // &
        ' tasks are not possible in class ' // options%class // ': use a power of two' // repeat(' and a host', hosts))
  end subroutine

  ! Reads the arguments. Prints an error and stops if they are wrong, and for --help.
  subroutine parse_options(kernel, options)
    type(team_kernel), intent(in) :: kernel
    type(team_options), intent(out) :: options
    character(len=64) :: argument, value
    integer :: at
    program_name = kernel%name
    options%class = kernel%classes(1:1)
    options%tasks = 0
    at = 0
    do while (at < command_argument_count())
      at = at + 1
      call get_command_argument(at, argument)
      select case (argument(1:scan(argument // '=', '= ') - 1))
      case ('-c', '--class')
        call take_value(argument, at, value)
        if (len_trim(value) /= 1 .or. index(trim(kernel%classes), value(1:1)) == 0) &
            call refuse('there is no class "' // trim(value) // '": use one of ' // trim(kernel%classes))
        options%class = value(1:1)
      case ('-t', '--tasks')
        call take_value(argument, at, value)
        call set_tasks(options, value)
      case ('-v', '--verify')
        options%verify = .true.
      case ('-s', '--stats')
        options%stats = .true.
      case ('-?', '--help')
        call print_help(kernel)
      case default
        call refuse('unexpected argument "' // trim(argument) // '"')
      end select
    end do
    call check_tasks(kernel, options)
  end subroutine
end module
