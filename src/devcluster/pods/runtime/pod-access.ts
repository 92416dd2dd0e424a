/** `PodAccess`: logs, exec, attach and port-forward for Pods that run as processes. The error messages are those of the kubelet. */
import type { Duplex, Readable } from 'node:stream'
import { messageOf } from '../../../api/errors.ts'
import { failure } from '../../../api/status.ts'
import { within } from '../../../runtime/waiting.ts'
import { badRequest, StatusError } from '../../apimachinery/status-error.ts'
import type { ContainerAccess, ContainerSession, ContainerTarget, ExecRequest, LogOptions } from '../../rest/container-access.ts'
import type { ContainerProcess } from '../driver.ts'
import { terminalVariables } from '../environment/command.ts'
import { readLog } from '../logs/read-log.ts'
import type { Output } from './output.ts'
import type { PodContext } from './pod-context.ts'
import { logsOf } from './pod-context.ts'
import type { ProcessPod } from './process-pod.ts'

export interface PodAccessOptions {
  readonly context: Pick<PodContext, 'stateFolder' | 'clock' | 'logger'>
  /** Returns the Pod with this uid. Returns undefined when the Pod does not run on this machine. */
  podOf(uid: string): ProcessPod | undefined
}

/** The time in milliseconds for which `attach` waits for the end of a process that has closed its output. */
const endMs = 1000

export class PodAccess implements ContainerAccess {
  readonly #options: PodAccessOptions

  constructor(options: PodAccessOptions) {
    this.#options = options
  }

  async log(target: ContainerTarget, { previous, ...options }: LogOptions, signal: AbortSignal): Promise<Readable> {
    const { context, podOf } = this.#options
    const { uid, container, pod } = target
    const running = podOf(uid)
    const logs = await (running?.containers.get(container)?.logs ?? logsOf(context, uid, container))
    const { status } = running?.pod ?? {}
    const all = [
      ...(status?.containerStatuses ?? []),
      ...(status?.initContainerStatuses ?? []),
      ...(status?.ephemeralContainerStatuses ?? []),
    ]
    const waiting = all.find(({ name }) => name === container)?.state?.waiting
    // While a container waits for its restart, the latest run has already ended. `previous` then reads the log of the latest run
    // (k8s.io/kubernetes/pkg/kubelet: validateContainerLogStatus).
    const log = previous && waiting === undefined ? logs.previous : logs.latest
    if (log !== undefined) return readLog(log, options, signal)
    if (previous) throw badRequest(`previous terminated container "${container}" in pod "${pod}" not found`)
    throw badRequest(`container "${container}" in pod "${pod}" is waiting to start: ${waiting?.reason ?? 'ContainerCreating'}`)
  }

  async exec(target: ContainerTarget, request: ExecRequest): Promise<ContainerSession> {
    const { process } = this.#runOf(target)
    try {
      const started = await process.execute({ ...request, ...(request.tty && { environment: terminalVariables }) })
      return {
        ...(started.stdin !== undefined && { stdin: started.stdin }),
        stdout: started.stdout,
        ...(started.stderr !== undefined && { stderr: started.stderr }),
        resize: (columns, rows) => started.resize({ columns, rows }),
        exited: started.exited,
        close: () => started.kill(),
      }
    } catch (error) {
      throw internal(`Internal error occurred: error executing command in container: ${messageOf(error)}`)
    }
  }

  async attach(target: ContainerTarget, { tty, stdin }: Omit<ExecRequest, 'command'>): Promise<ContainerSession> {
    const { clock } = this.#options.context
    const { stdout: running, finished } = this.#runOf(target)
    // If the output has ended, the process probably ends soon. In this case, `attach` waits until the run of the container has finished,
    // but at most `endMs` milliseconds. If the run finishes in this time, the next call of `#runOf` throws the same error as for a
    // container that is not running.
    if (running.hasEnded) await within(clock, endMs, finished)
    const { process, stdout, stderr, stdinOnce } = this.#runOf(target)
    const out = stdout.attach()
    const err = tty ? undefined : stderr?.attach()
    const input = stdin ? process.stdin : undefined
    return {
      ...(input !== undefined && { stdin: input }),
      stdout: out,
      ...(err !== undefined && { stderr: err }),
      resize: (columns, rows) => process.resize({ columns, rows }),
      exited: process.exited,
      close: () => {
        out.destroy()
        err?.destroy()
        if (stdinOnce) input?.end()
      },
    }
  }

  async connect(target: Omit<ContainerTarget, 'container'>, port: number): Promise<Duplex> {
    const pod = this.#options.podOf(target.uid)
    if (pod === undefined) throw internal('the pod does not run')
    try {
      return await (await pod.sandbox()).connect(port)
    } catch (error) {
      throw internal(messageOf(error))
    }
  }

  #runOf({ uid, container }: ContainerTarget): RunningContainer {
    const found = this.#options.podOf(uid)?.containers.get(container)
    const run = found?.run
    if (found === undefined || run?.process === undefined || run.stdout === undefined || Number.isFinite(run.exit.at))
      throw internal(`container not found ("${container}")`)
    const { process, stdout, stderr, finished } = run
    return { process, stdout, stderr, finished, stdinOnce: found.spec.stdinOnce === true }
  }
}

interface RunningContainer {
  readonly process: ContainerProcess
  readonly stdout: Output
  readonly stderr: Output | undefined
  /** Resolves when the run has ended. */
  readonly finished: Promise<void>
  readonly stdinOnce: boolean
}

function internal(message: string): StatusError {
  return new StatusError(failure(500, 'InternalError', message, {}))
}
