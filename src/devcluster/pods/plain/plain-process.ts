/** `startPlainContainer` starts a container as a process of this machine. */
import { stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import type { ContainerOptions, ContainerProcess, ExecOptions, ExecProcess, ProcessStreams } from '../driver.ts'
import { ContainerStartError } from '../driver.ts'
import { findProgram } from './find-program.ts'
import { NamedPipes } from './named-pipes.ts'
import type { Supervisor } from './supervisor.ts'
import { containerEnded } from './supervisor.ts'
import { terminalProblem } from './terminal.ts'
import { unsupported } from './unsupported.ts'

/** The supervisor that starts processes, and a source of paths for their pipes. */
export interface PlainPlace {
  readonly supervisor: Supervisor
  /** Returns an unused path for the pipes of a process (`NamedPipes.open`). */
  newPipes(): string
}

interface ProcessOptions extends ExecOptions {
  readonly environment: Readonly<Record<string, string>>
  readonly folder: string
  /**
   * The id (`StartMessage.id`) of the first process of the container, if the new process joins an existing container. Absent if the new
   * process is the first process of a container.
   */
  readonly container?: number
}

/**
 * Starts the first process of a container.
 *
 * @throws {ContainerStartError} when the container has a field that cannot be applied to a plain process (see `unsupported`), or when the
 *   process cannot be started.
 */
export async function startPlainContainer(place: PlainPlace, options: ContainerOptions): Promise<ContainerProcess> {
  const problems = unsupported(options)
  if (problems.length > 0)
    throw new ContainerStartError(`this machine cannot isolate containers, so this one cannot run: ${problems.join('; ')}`)
  const { command, environment, workingDirectory: folder = process.cwd(), tty, stdin } = options
  await checkFolder(folder)
  const { id, streams } = await startProcess(place, { command, environment, folder, tty, stdin })
  return {
    ...streams,
    signal: (name) => place.supervisor.signal(id, name),
    kill: () => place.supervisor.kill(id),
    async execute(exec) {
      const variables = { ...environment, ...exec.environment }
      return (await startProcess(place, { ...exec, environment: variables, folder, container: id })).streams
    },
  }
}

async function checkFolder(folder: string): Promise<void> {
  const field = `workingDir: ${JSON.stringify(folder)}`
  if (!isAbsolute(folder)) throw new ContainerStartError(`${field} is not an absolute path`)
  const stats = await stat(folder).catch((cause: unknown) => {
    throw new ContainerStartError(`${field} cannot be read, and this machine's folders are not created for containers`, { cause })
  })
  if (!stats.isDirectory()) throw new ContainerStartError(`${field} is not a folder`)
}

async function startProcess(
  { supervisor, newPipes }: PlainPlace,
  { command, environment, folder, tty, stdin, container }: ProcessOptions,
): Promise<{ readonly id: number; readonly streams: ProcessStreams & Pick<ExecProcess, 'kill'> }> {
  const [program = ''] = command
  const file = await findProgram(program, environment, folder)
  const problem = tty ? await terminalProblem() : undefined
  if (problem !== undefined) throw new ContainerStartError(problem)
  const pipes = await NamedPipes.open(newPipes(), { stdin, stderr: !tty }).catch((cause: unknown) => {
    // After the supervisor has ended, `NamedPipes.open` can fail, because the driver removes and recreates the folder of the pipes.
    throw new ContainerStartError(supervisor.hasEnded ? containerEnded : 'the pipes of the process could not be created', { cause })
  })
  try {
    const { id, exited } = await supervisor.start({
      ...(container !== undefined && { container }),
      program: { file, args: command, environment: Object.entries(environment) },
      ...{ folder, pipes: pipes.paths, tty },
    })
    const { stdin: input, stdout, stderr } = pipes
    if (input !== undefined) void exited.then(() => input.destroy())
    const streams = {
      ...(input !== undefined && { stdin: input }),
      stdout,
      ...(stderr !== undefined && { stderr }),
      resize: (size: Parameters<ProcessStreams['resize']>[0]) => supervisor.resize(id, size),
      exited,
      kill: () => supervisor.kill(id),
    }
    return { id, streams }
  } catch (error) {
    pipes.destroy()
    throw error
  } finally {
    pipes.closeOthers()
  }
}
