import { spawnSync } from 'node:child_process'
import t from 'tap'
import { commandOf } from '../../../../src/devcluster/pods/environment/command.ts'
import { containerWith } from '../../../support/pods/fake-sources.ts'

const none = { variables: new Map<string, string>(), hostname: 'web-0' }
const image = { Entrypoint: ['/entry', '$(A)'], Cmd: ['serve', '-v'] }

/**
 * The expected results agree with two sources:
 *
 * - The table in the notes of https://kubernetes.io/docs/tasks/inject-data-application/define-command-argument-container/.
 * - k8s.io/kubernetes/pkg/kubelet/container: ExpandContainerCommandAndArgs.
 */
t.test('command and args replace Entrypoint and Cmd', async (t) => {
  const variables = new Map([['A', '1']])
  const facts: readonly (readonly [container: object, command: readonly string[]])[] = [
    [{}, ['/entry', '$(A)', 'serve', '-v']],
    [{ args: ['x$(A)'] }, ['/entry', '$(A)', 'x1']],
    [{ command: ['run', '$(A)', '$$(A)', '$(B)'] }, ['run', '1', '$(A)', '$(B)']],
    [{ command: ['run'], args: ['$(A)'] }, ['run', '1']],
    [{ command: [], args: [] }, ['/entry', '$(A)', 'serve', '-v']],
  ]
  for (const [container, command] of facts) {
    t.strictSame(commandOf(containerWith(container), { ...none, variables, image }).command, command, JSON.stringify(container))
  }
  t.strictSame(commandOf(containerWith({ args: ['sh'] }), none).command, ['sh'])
  t.throws(() => commandOf(containerWith({}), none), { reason: 'CreateContainerError', message: 'no command specified' })
  t.throws(() => commandOf(containerWith({}), { ...none, image: { Entrypoint: null, Cmd: null } }), { message: 'no command specified' })
})

t.test('variables of the container override those of the image, which override those of the runtime', async (t) => {
  const env = ['PATH=/opt/bin', 'MODE=a=b', 'LEVEL=low', 'novalue', '=nameless', 'EMPTY=']
  const container = containerWith({ command: ['x'], tty: true })
  const { environment } = commandOf(container, { ...none, variables: new Map([['LEVEL', 'high']]), image: { Env: env } })
  t.strictSame({ ...environment }, { PATH: '/opt/bin', HOSTNAME: 'web-0', TERM: 'xterm', MODE: 'a=b', LEVEL: 'high', EMPTY: '' })
  const plain = commandOf(containerWith({ command: ['x'] }), none).environment
  t.strictSame({ ...plain }, { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOSTNAME: 'web-0' })
})

t.test('the working directory and the user', async (t) => {
  const of = (container: object, config: object): object => {
    const { workingDirectory, imageUser } = commandOf(containerWith({ command: ['x'], ...container }), { ...none, image: config })
    return { workingDirectory, imageUser }
  }
  t.strictSame(of({}, {}), { workingDirectory: undefined, imageUser: undefined })
  t.strictSame(of({}, { WorkingDir: '', User: '' }), { workingDirectory: undefined, imageUser: undefined })
  t.strictSame(of({}, { WorkingDir: '/srv', User: '999:999' }), { workingDirectory: '/srv', imageUser: '999:999' })
  t.strictSame(of({ workingDir: '/own' }, { WorkingDir: '/srv' }), { workingDirectory: '/own', imageUser: undefined })
})

t.test('arguments and variables that no process can have are refused', async (t) => {
  const reason = 'RunContainerError'
  const command = (argument: string): void => void commandOf(containerWith({ command: ['x', argument] }), none)
  const variable = (name: string, value: string): void =>
    void commandOf(containerWith({ command: ['x'] }), { ...none, variables: new Map([[name, value]]) })
  t.throws(() => command('a\0b'), { reason, message: 'invalid argument "a\\x00b": contains nul byte (\\x00)' })
  t.throws(() => command('é'.repeat(70_000)), { reason, message: 'exec: argument list too long' })
  t.throws(() => variable('A', 'a\0b'), { reason, message: 'invalid environment variable "A": contains nul byte (\\x00)' })
  t.throws(() => variable('A=B', 'c'), { reason, message: 'invalid environment variable: the name "A=B" is empty or contains \'=\'' })
  t.throws(() => variable('A', 'x'.repeat(131_070)), { reason, message: 'exec: argument list too long' })
  variable('A', 'x'.repeat(131_069))
  const many = new Map(Array.from({ length: 70 }, (_, index) => [`A${index}`, 'x'.repeat(100_000)]))
  t.throws(() => commandOf(containerWith({ command: ['x'] }), { ...none, variables: many }), { message: 'exec: argument list too long' })
})

t.test('a real process gets the arguments and variables as they are', async (t) => {
  const value = 'a "b" $HOME `id` ; rm -rf / \n é'
  const container = containerWith({
    command: ['node', '-p', 'JSON.stringify([process.argv[1], process.env.V])'],
    args: ['$(V)'],
  })
  const variables = new Map([
    ['V', value],
    ['__proto__', 'own'],
  ])
  const { command, environment } = commandOf(container, { ...none, variables })
  t.equal(Object.getOwnPropertyDescriptor(environment, '__proto__')?.value, 'own')
  const [program = '', ...args] = command
  const { stdout } = spawnSync(program === 'node' ? process.execPath : program, args, { env: environment, encoding: 'utf8' })
  t.strictSame(JSON.parse(stdout), [value, value])
})
