/** Reviews whose objects have not been read yet. */
import { setImmediate as turn } from 'node:timers/promises'
import type { JsonObject } from '../../api/json.ts'
import { isObject } from '../../api/json.ts'
import { JsonReader } from '../../api/json-reader.ts'
import type { AdmissionRequest } from '../review.ts'
import type { Range } from './scan.ts'

/** How many values are read in one go: about a millisecond. */
const valuesPerTurn = 5000

export class UnreadReview {
  /** Of the whole body. Nothing is left of them while another thread has them. */
  bytes: Buffer
  readonly #object: Range | undefined
  readonly #oldObject: Range | undefined

  constructor(bytes: Buffer, object: Range | undefined, oldObject: Range | undefined) {
    this.bytes = bytes
    this.#object = object
    this.#oldObject = oldObject
  }

  /**
   * The request with its objects, which are frozen; the event loop is free in between. `goOn` is asked then, to give up by throwing.
   * `completed` is read in place of the object, where it is given.
   */
  async read(request: AdmissionRequest, goOn: () => void, completed?: Buffer): Promise<AdmissionRequest> {
    const object = await read(completed ?? this.#bytesOf(this.#object), goOn)
    return { ...request, object, oldObject: await read(this.#bytesOf(this.#oldObject), goOn) }
  }

  #bytesOf(range: Range | undefined): Buffer | undefined {
    return range && this.bytes.subarray(range.start, range.end)
  }
}

async function read(bytes: Buffer | undefined, goOn: () => void): Promise<JsonObject | undefined> {
  if (bytes === undefined) return undefined
  const reader = new JsonReader(bytes.toString('utf8'), { freeze: true })
  while (!reader.read(valuesPerTurn)) {
    await turn()
    goOn()
  }
  return isObject(reader.value) ? reader.value : undefined
}

/** By the empty objects that stand in the place of those that are not read. */
const unread = new WeakMap<object, UnreadReview>()

export function leaveUnread(request: JsonObject, review: UnreadReview): void {
  for (const object of [request.object, request.oldObject]) if (isObject(object)) unread.set(object, review)
}

export function unreadOf({ object, oldObject }: AdmissionRequest): UnreadReview | undefined {
  return (object && unread.get(object)) ?? (oldObject && unread.get(oldObject))
}
