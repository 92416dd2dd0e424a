/** `ParentChannel`: the agent's end of the IPC channel between the agent process and its parent process. */
import type { Socket } from 'node:net'
import type { RecordType } from 'dns-packet'
import type { DnsAnswer } from '../dns/answer.ts'
import type { AgentMessage, ResolvedMessage } from './messages.ts'

/** The maximum number of names that the parent process resolves at the same time. Further questions are answered with SERVFAIL. */
const maxQuestions = 1024

export class ParentChannel {
  readonly #questions = new Map<number, (answer: DnsAnswer) => void>()
  #lastQuestion = 0

  send(message: AgentMessage): void {
    process.send?.(message, () => undefined)
  }

  /** Sends a message, and hands a socket over to the parent process. Afterwards, this process can no longer use the socket. */
  handOver(message: AgentMessage, socket: Socket): void {
    process.send?.(message, socket, {}, (error) => {
      if (error !== null) socket.destroy()
    })
  }

  /** Resolves a name in the parent process. The parent process responds to every question, so the agent needs no timeout. */
  resolve(name: string, recordType: RecordType): Promise<DnsAnswer> {
    if (this.#questions.size >= maxQuestions) return Promise.resolve({ code: 'SERVFAIL', records: [] })
    const id = (this.#lastQuestion += 1)
    this.send({ type: 'resolve', id, name, recordType })
    return new Promise((resolve) => this.#questions.set(id, resolve))
  }

  resolved({ id, answer }: ResolvedMessage): void {
    this.#questions.get(id)?.(answer)
    this.#questions.delete(id)
  }
}
