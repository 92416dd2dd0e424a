/** `runHook`: runs the hook postStart or preStop of a container (k8s.io/kubernetes/pkg/kubelet/lifecycle: handlerRunner.Run). */
import { messageOf } from '../../../api/errors.ts'
import { quote } from '../../../api/field-error.ts'
import type { Clock } from '../../../runtime/clock.ts'
import { sleep } from '../../../runtime/waiting.ts'
import type { ContainerSpec, RuntimeEvent } from '../../controllers/kubelet/container-runtime.ts'
import { httpGet } from './http-get.ts'
import type { HttpGetAction } from './http-request.ts'
import { httpRequestOf } from './http-request.ts'
import type { ProbeTarget } from './probe-target.ts'
import { runCommand } from './run-command.ts'
import { HttpError } from './send-get.ts'
import { HttpAnswer } from './start-tls.ts'

export type HookHandler = NonNullable<NonNullable<ContainerSpec['lifecycle']>['postStart']>

export interface HookOptions {
  readonly container: ContainerSpec
  /** The Pod in the form of the kubelet's messages: name_namespace(uid). */
  readonly pod: string
  readonly clock: Clock
  /** Aborts the hook. The hook itself has no time limit. */
  readonly signal: AbortSignal
  /** Called with an Event when a request was sent again without TLS. */
  record(event: RuntimeEvent): void
}

/** The message of Go's `context.Canceled`. */
const canceled = 'context canceled'

/**
 * The error of a hook that failed. The message is that of the kubelet, e.g. `Exec lifecycle hook ([sleep 9]) for Container "main" in Pod
 * "web_default(UID)" failed - error: context canceled, message: ""`.
 */
export class HookError extends Error {}

/** Resolves when the hook has succeeded. @throws {HookError} when the hook has failed, or when the signal aborts. */
export async function runHook(handler: HookHandler, target: ProbeTarget, options: HookOptions): Promise<void> {
  const { exec, httpGet: get, sleep: pause } = handler
  if (exec !== undefined) return runExecHook(exec.command ?? [], target, options)
  if (get !== undefined) return runHttpHook(get, target, options)
  if (pause !== undefined) return runSleepHook(pause.seconds, options)
  throw new HookError(`Cannot run handler: invalid handler: ${formatHandler(handler)}`)
}

async function runExecHook(command: readonly string[], target: ProbeTarget, options: HookOptions): Promise<void> {
  const kind = `Exec lifecycle hook ([${command.join(' ')}])`
  const { exitCode, output, errorOutput } = await runCommand(command, target, options).catch((error: unknown) => {
    const message = options.signal.aborted ? canceled : messageOf(error)
    throw hookError(kind, `${message}, message: ""`, { options, cause: error })
  })
  if (exitCode === 0) return
  const problem = `command '${command.join(' ')}' exited with ${exitCode}: ${errorOutput}`
  throw hookError(kind, `${problem}, message: ${quote(output)}`, { options })
}

/** Sends a request. Any response is a success. */
async function runHttpHook(action: HttpGetAction, target: ProbeTarget, options: HookOptions): Promise<void> {
  try {
    await sendRequest(action, target, options)
  } catch (error) {
    const kind = `HTTP lifecycle hook (${action.path ?? ''})`
    const message = options.signal.aborted || !(error instanceof Error) ? canceled : error.message
    throw hookError(kind, message, { options, cause: error })
  }
}

/**
 * Sends a request. If the server responds without TLS to an HTTPS request, sends the request again over HTTP, without the header
 * Authorization.
 */
async function sendRequest(action: HttpGetAction, target: ProbeTarget, { container, signal, record }: HookOptions): Promise<void> {
  const request = httpRequestOf(action, { container, address: target.address, purpose: 'lifecycle' })
  const sending = { target, host: action.host || undefined, signal }
  try {
    const response = await httpGet(request, sending)
    response.close()
  } catch (error) {
    if (!(error instanceof HttpError && error.cause instanceof HttpAnswer)) throw error
    const headers = request.headers.filter(([name]) => name !== 'Authorization')
    const response = await httpGet({ ...request, scheme: 'http', headers }, sending).catch(() => {
      // If the HTTP request fails, too, the kubelet reports the error of the HTTPS request.
      throw error
    })
    response.close()
    const message = `request to HTTPS lifecycle hook ${request.authority} got HTTP response, retry with HTTP succeeded`
    record({ type: 'Warning', reason: 'LifecycleHTTPFallback', message })
  }
}

async function runSleepHook(seconds: number, options: HookOptions): Promise<void> {
  try {
    await sleep(options.clock, seconds * 1000, options.signal)
  } catch (error) {
    const message = 'container terminated before sleep hook finished'
    throw hookError(`Sleep lifecycle hook (${seconds})`, message, { options, cause: error })
  }
}

interface HookErrorOptions {
  readonly options: HookOptions
  readonly cause?: unknown
}

function hookError(kind: string, message: string, { options: { container, pod }, cause }: HookErrorOptions): HookError {
  const text = `${kind} for Container ${quote(container.name)} in Pod ${quote(pod)} failed - error: ${message}`
  return new HookError(text, { cause })
}

/** Returns the text that Go prints for a handler that the kubelet does not support, e.g. `tcpSocket`. */
function formatHandler({ tcpSocket }: HookHandler): string {
  const { port, host = '' } = tcpSocket ?? {}
  const [type, number, name] = typeof port === 'string' ? [1, 0, port] : [0, port, '']
  const socket = tcpSocket === undefined ? 'nil' : `&TCPSocketAction{Port:{${type} ${number} ${name}},Host:${host},}`
  return `&LifecycleHandler{Exec:nil,HTTPGet:nil,TCPSocket:${socket},Sleep:nil,}`
}
