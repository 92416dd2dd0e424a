/** `ProcessRun`: one run of a container as a process, from the evaluation of the environment variables to the end of the process. */
import { messageOf } from '../../../api/errors.ts'
import type { Timer } from '../../../runtime/clock.ts'
import { aborted } from '../../../runtime/waiting.ts'
import type { ContainerRun, Exit, Operation, Probes, ProbesOptions, RuntimeError } from '../../controllers/kubelet/container-runtime.ts'
import type { ContainerProcess } from '../driver.ts'
import { ContainerConfigError } from '../environment/container-config-error.ts'
import { readLogEnd } from '../logs/read-log.ts'
import type { HookHandler, HookOptions } from '../probes/run-hook.ts'
import { runHook } from '../probes/run-hook.ts'
import { ProcessProbes } from '../probes/process-probes.ts'
import type { ProbeTarget } from '../probes/probe-target.ts'
import { terminationLogBytes, terminationLogLines, terminationMessage } from '../volumes/termination-message.ts'
import { containerOptions } from './container-options.ts'
import { Output } from './output.ts'
import type { ProcessContainer } from './process-container.ts'
import type { ProcessPod } from './process-pod.ts'

/** The exit code of a run whose process did not start, or was killed because the log could not be opened. */
const killed = 137
/** The shortest time in milliseconds from the stop signal to SIGKILL (pkg/kubelet/kuberuntime: minimumGracePeriodInSeconds). */
const minGraceMs = 2000
/** The default of `terminationGracePeriodSeconds` in the API (k8s.io/api/core/v1: DefaultTerminationGracePeriodSeconds). */
const defaultGraceSeconds = 30

export class ProcessRun implements ContainerRun {
  start: Operation = { endsAt: Number.POSITIVE_INFINITY, error: undefined }
  exit: Exit = { at: Number.POSITIVE_INFINITY, exitCode: 0 }
  /** Undefined until the process has started. */
  process: ContainerProcess | undefined
  stdout: Output | undefined
  stderr: Output | undefined
  readonly restarts: number
  readonly #pod: ProcessPod
  readonly #container: ProcessContainer
  #terminationFile = ''
  /** Aborted when the process has ended or is killed. Also aborted when the log cannot be opened. */
  readonly #end = new AbortController()
  #stopping: { readonly killAt: number; timer: Timer } | undefined
  /** The preStop hook. Undefined until the hook has begun. */
  #preStop: PreStop | undefined
  /** Aborted when the container is stopped. */
  readonly #stop = new AbortController()
  /** Resolves when the run has ended. The run then writes no more files. */
  readonly finished: Promise<void>

  constructor(pod: ProcessPod, container: ProcessContainer, restarts: number) {
    this.#pod = pod
    this.#container = container
    this.restarts = restarts
    this.finished = this.#run()
  }

  probe(options: ProbesOptions): Probes {
    const { clock } = this.#pod.context
    const { spec: container, host } = this.#container
    return new ProcessProbes({
      ...options,
      container,
      target: this.#target,
      clock,
      wake: () => this.#pod.wake(),
      record: (event) => host.record(event),
    })
  }

  prepareToStop(_at: number, graceMs: number): void {
    const hook = this.#container.spec.lifecycle?.preStop
    if (hook === undefined || this.process === undefined || this.#preStop !== undefined) return
    const cutOff = new AbortController()
    const timer = this.#pod.context.clock.after(graceMs, () => cutOff.abort())
    const ended = Promise.race([this.#runPreStop(hook), aborted(cutOff.signal)]).then(() => {
      timer.cancel()
      preStop.isRunning = false
    })
    const preStop: PreStop = { ended, cutOff, isRunning: true }
    this.#preStop = preStop
  }

  stop(at: number, graceMs: number): void {
    const killAt = at + graceMs
    const isFirst = this.#stopping === undefined
    if (this.#stopping !== undefined && killAt >= this.#stopping.killAt) return
    this.#stopping?.timer.cancel()
    this.#stopping = { killAt, timer: this.#pod.context.clock.after(Math.max(minGraceMs, graceMs), () => this.#graceIsOver()) }
    this.#stop.abort()
    if (graceMs === 0) this.#preStop?.cutOff.abort()
    else if (isFirst) this.prepareToStop(at, graceMs)
    if (isFirst) void this.#terminate()
  }

  async #run(): Promise<void> {
    const { clock } = this.#pod.context
    try {
      const process = await this.#startProcess()
      if (process === undefined) return this.#ended({ at: clock.now(), exitCode: killed })
      this.process = process
      const startedAt = clock.now()
      const ended = this.#watch(process)
      // If the log of the run cannot be opened, `ended` rejects, and the postStart hook is aborted.
      ended.catch(() => this.#end.abort())
      const error = await this.#postStart()
      // If the hook has failed, the kubelet waits for the end of the container, and then reports the failure.
      if (error !== undefined) await ended
      this.#started(startedAt, error)
      await ended
    } catch (error) {
      this.#kill()
      this.exit = { at: clock.now(), exitCode: killed }
      this.#started(clock.now(), startErrorOf(error))
    }
  }

  /** Starts the process. Resolves with undefined when the container is stopped before the process has started. */
  async #startProcess(): Promise<ContainerProcess | undefined> {
    // If the volumes of the Pod never become ready, only a stop of the container ends the wait for the sandbox.
    const { signal } = this.#stop
    const sandbox = await Promise.race([this.#pod.sandbox(), aborted(signal)])
    if (sandbox === undefined) return undefined
    const { options, terminationFile } = await containerOptions(this.#pod, this.#container.spec, this.restarts)
    this.#terminationFile = terminationFile
    if (signal.aborted) return undefined
    try {
      return await sandbox.start({ ...options, signal })
    } catch (error) {
      if (signal.aborted) return undefined
      throw error
    }
  }

  /** Writes the output of the process to the log until the process has ended, and then sets `exit`. */
  async #watch(process: ContainerProcess): Promise<void> {
    const { clock } = this.#pod.context
    this.stdout = new Output(process.stdout)
    this.stderr = process.stderr === undefined ? undefined : new Output(process.stderr)
    // If the container was stopped while its process was being started, the process is killed at once.
    if (this.#stopping !== undefined) process.kill()
    const log = await (await this.#container.logs).start(this.restarts)
    const captured = log.capture(this.stdout.log, this.stderr?.log)
    const exitCode = await process.exited
    this.#end.abort()
    await captured
    const message = await terminationMessage({
      file: this.#terminationFile,
      policy: this.#container.spec.terminationMessagePolicy,
      exitCode,
      lastLines: () => readLogEnd(log, terminationLogLines, terminationLogBytes),
    })
    this.#ended({ at: clock.now(), exitCode, ...(message !== '' && { message }) })
  }

  #started(startedAt: number, error?: RuntimeError): void {
    this.start = { startedAt, endsAt: this.#pod.context.clock.now(), error }
    this.#pod.wake()
  }

  #ended(exit: Exit): void {
    this.#stopping?.timer.cancel()
    this.#end.abort()
    this.exit = exit
    this.#pod.wake()
  }

  /** Runs the postStart hook. If the hook fails, stops the container and resolves with the error. */
  async #postStart(): Promise<RuntimeError | undefined> {
    const hook = this.#container.spec.lifecycle?.postStart
    if (hook === undefined) return undefined
    try {
      await runHook(hook, this.#target, this.#hookOptions)
      return undefined
    } catch (error) {
      if (this.#end.signal.aborted) return undefined
      this.#logHook('postStart', error)
      this.stop(this.#pod.context.clock.now(), (this.#pod.pod.spec?.terminationGracePeriodSeconds ?? defaultGraceSeconds) * 1000)
      const failed = { type: 'Warning', reason: 'FailedPostStartHook', message: 'PostStartHook failed' } as const
      const killing = { type: 'Normal', reason: 'Killing', message: 'FailedPostStartHook' } as const
      return { reason: 'PostStartHookError', message: messageOf(error), events: [failed, killing] }
    }
  }

  /**
   * Waits for the preStop hook, and then sends the stop signal. Even a container with a grace period of 0 gets the stop signal before it is
   * killed (k8s.io/kubernetes/pkg/kubelet/kuberuntime: killContainer).
   */
  async #terminate(): Promise<void> {
    const { process } = this
    if (process === undefined) return
    if (this.#preStop !== undefined) {
      await this.#preStop.ended
      if (this.#end.signal.aborted) return
      this.#extendGrace()
    }
    process.signal(this.#pod.context.images.of(this.#container.spec).stopSignal)
  }

  /** Runs the preStop hook. Records an Event when the hook fails. Never rejects. */
  async #runPreStop(hook: HookHandler): Promise<void> {
    try {
      await runHook(hook, this.#target, this.#hookOptions)
    } catch (error) {
      this.#container.host.record({ type: 'Warning', reason: 'FailedPreStopHook', message: 'PreStopHook failed' })
      this.#logHook('preStop', error)
      this.#pod.wake()
    }
  }

  /**
   * Restarts the timer that kills the process at the end of the grace period. The timer is set to the rest of the grace period, but to at
   * least `minGraceMs`. This function is called when the preStop hook has ended, or when the stop of the container no longer waits for the
   * hook.
   */
  #extendGrace(): void {
    const stopping = this.#stopping
    if (stopping === undefined) return
    const { clock } = this.#pod.context
    stopping.timer.cancel()
    stopping.timer = clock.after(Math.max(minGraceMs, stopping.killAt - clock.now()), () => this.#graceIsOver())
  }

  #graceIsOver(): void {
    if (this.#preStop?.isRunning === true) this.#preStop.cutOff.abort()
    else this.#kill()
  }

  #kill(): void {
    this.#end.abort()
    this.process?.kill()
  }

  #logHook(hook: string, error: unknown): void {
    const { namespace, name } = this.#pod.pod.metadata
    this.#pod.context.logger.warn({ err: error, namespace, name, container: this.#container.spec.name, hook }, 'lifecycle hook failed')
  }

  get #hookOptions(): HookOptions {
    const { spec: container, host } = this.#container
    const { name, namespace, uid } = this.#pod.pod.metadata
    const { clock } = this.#pod.context
    return { container, pod: `${name}_${namespace}(${uid})`, clock, signal: this.#end.signal, record: (event) => host.record(event) }
  }

  /** The functions with which probes and hooks connect to the container or run commands in it. */
  get #target(): ProbeTarget {
    const process = this.process!
    return {
      address: this.#pod.podIP,
      connect: async (port, host) => {
        const sandbox = await this.#pod.sandbox()
        return sandbox.connect(port, host ?? sandbox.address)
      },
      execute: (command) => process.execute({ command, tty: false, stdin: false }),
    }
  }
}

interface PreStop {
  /** Resolves when the hook has ended or `cutOff` is aborted. Never rejects. */
  readonly ended: Promise<void>
  /**
   * Aborted when the grace period has passed, or when the container is stopped with a grace period of 0. After the abort, the stop of the
   * container no longer waits for the preStop hook. The hook itself can continue until the process of the container ends.
   */
  readonly cutOff: AbortController
  isRunning: boolean
}

function startErrorOf(error: unknown): RuntimeError {
  const reason = error instanceof ContainerConfigError ? error.reason : 'RunContainerError'
  return { reason, message: messageOf(error) }
}
