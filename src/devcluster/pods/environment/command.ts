/** `commandOf`: the program, arguments and variables of a container, from its spec and its image. */
import { quote } from '../../../api/field-error.ts'
import { ContainerConfigError } from './container-config-error.ts'
import { argumentTooLong, expand, mappingOf, maxArgumentBytes, maxTotalBytes } from './expansion.ts'
import type { ReadonlyContainer } from './sources.ts'

/** The `config` of an OCI image configuration (github.com/opencontainers/image-spec: config.md). */
export interface ImageConfig {
  readonly Entrypoint?: readonly string[] | null
  readonly Cmd?: readonly string[] | null
  /** Variables, each as `NAME=value`. */
  readonly Env?: readonly string[] | null
  /** `uid`, `uid:gid`, `name` or `name:group`. */
  readonly User?: string
  readonly WorkingDir?: string
  /** The name or the number of a signal, e.g. `SIGINT`. */
  readonly StopSignal?: string
}

export interface ContainerCommand {
  /** The program and its arguments. */
  readonly command: readonly string[]
  /** All variables of the process. An object without a prototype. */
  readonly environment: Readonly<Record<string, string>>
  /** Absent when neither the container nor the image sets a working directory. */
  readonly workingDirectory?: string
  /** The user of the image. A `runAsUser` of a security context replaces this user. Absent when the image has no user. */
  readonly imageUser?: string
}

export interface CommandOptions {
  /** The result of `containerEnvironment`. */
  readonly variables: ReadonlyMap<string, string>
  /** The host name of the Pod. The variable `HOSTNAME` of the process has this value. */
  readonly hostname: string
  /** The configuration of the image. If this configuration is absent, the container must have a `command` or `args`. */
  readonly image?: ImageConfig
}

/** The default of `PATH` (github.com/containerd/containerd: oci.WithDefaultPathEnv). */
const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
/**
 * The variable `TERM` of a process with a terminal:
 *
 * - For the first process of a container, this value is the default. A variable of the image or of the container overrides this value
 *   (github.com/containerd/containerd: oci.WithTTY).
 * - For a process that `kubectl exec` starts, this value overrides the variable of the container (internal/cri/server: execInternal).
 */
export const terminalVariables = { TERM: 'xterm' }

/**
 * Combines a container and its image:
 *
 * - A `command` replaces Entrypoint and Cmd of the image. `args` without a `command` replace only Cmd (github.com/containerd/containerd,
 *   internal/cri/opts: WithProcessArgs).
 * - References to variables in `command` and `args` are expanded (k8s.io/kubernetes/pkg/kubelet/container: ExpandContainerCommandAndArgs).
 * - The variables of the image override the defaults of the runtime. The variables of the container override all others.
 *
 * @throws {ContainerConfigError} when there is no command, or when the arguments or variables are invalid or too long.
 */
export function commandOf(container: ReadonlyContainer, { variables, hostname, image = {} }: CommandOptions): ContainerCommand {
  const mapping = mappingOf(variables)
  const expanded = (texts: readonly string[] = []): readonly string[] => texts.map((text) => expand(text, mapping))
  const own = expanded(container.command)
  const args = expanded(container.args)
  const fromImage = [...(image.Entrypoint ?? []), ...(args.length > 0 ? args : (image.Cmd ?? []))]
  const command = own.length > 0 ? [...own, ...args] : fromImage
  if (command.length === 0) throw new ContainerConfigError('no command specified', { reason: 'CreateContainerError' })
  const environment: Record<string, string> = Object.assign(Object.create(null) as object, {
    PATH: defaultPath,
    HOSTNAME: hostname,
    ...(container.tty === true && terminalVariables),
  })
  for (const variable of image.Env ?? []) {
    const end = variable.indexOf('=')
    if (end > 0) environment[variable.slice(0, end)] = variable.slice(end + 1)
  }
  for (const [name, value] of variables) environment[name] = value
  checkProcess(command, environment)
  const workingDirectory = container.workingDir || image.WorkingDir
  return {
    command,
    environment,
    ...(workingDirectory !== undefined && workingDirectory !== '' && { workingDirectory }),
    ...(image.User !== undefined && image.User !== '' && { imageUser: image.User }),
  }
}

/** Throws if the command or the variables are invalid or too long. The messages are similar to those of runc and of execve(2). */
function checkProcess(command: readonly string[], environment: Readonly<Record<string, string>>): void {
  let total = 0
  const count = (text: string): void => {
    const bytes = Buffer.byteLength(text)
    total += bytes + 1
    if (bytes > maxArgumentBytes || total > maxTotalBytes) throw argumentTooLong()
  }
  for (const argument of command) {
    if (argument.includes('\0')) throw runError(`invalid argument ${quote(argument.slice(0, 100))}: contains nul byte (\\x00)`)
    count(argument)
  }
  for (const [name, value] of Object.entries(environment)) {
    if (name === '' || name.includes('='))
      throw runError(`invalid environment variable: the name ${quote(name.slice(0, 100))} is empty or contains '='`)
    if (name.includes('\0') || value.includes('\0'))
      throw runError(`invalid environment variable ${quote(name.slice(0, 100))}: contains nul byte (\\x00)`)
    count(`${name}=${value}`)
  }
}

function runError(message: string): ContainerConfigError {
  return new ContainerConfigError(message, { reason: 'RunContainerError' })
}
