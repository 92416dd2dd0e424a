/** Creates, changes and deletes Gadgets for a given time. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '../../src/index.ts'
import { isAlreadyExists, isNotFound } from '../../src/index.ts'
import { gadget } from '../gadget.ts'

export const namespace = 'soak'

const names = Array.from({ length: 200 }, (_, index) => `gadget-${index}`)
/** The longest pause between two writes, in milliseconds. */
const pauseMs = 20
/** Milliseconds from a failed write to the next write. A write fails while the API server restarts. */
const awayMs = 200

/** Writes to random Gadgets for `seconds` seconds. Resolves to the number of successful writes. */
export async function churn(client: Client, seconds: number, random: () => number): Promise<number> {
  const until = performance.now() + seconds * 1000
  let writes = 0
  while (performance.now() < until) {
    const name = names[Math.floor(random() * names.length)]!
    try {
      await writeOnce(client, name, writes, random())
      writes += 1
      await delay(random() * pauseMs)
    } catch {
      // After an error, it is unknown whether the API server has stored the write. The next write to this Gadget can succeed in both cases,
      // because `writeOnce` supports both an existing Gadget and a missing Gadget.
      await delay(awayMs)
    }
  }
  return writes
}

/**
 * Creates the Gadget if it does not exist. Deletes an existing Gadget if `dice` is below 0.1. Changes an existing Gadget if `dice` is 0.1
 * or higher.
 */
async function writeOnce(client: Client, name: string, value: number, dice: number): Promise<void> {
  const key = { namespace, name }
  try {
    if (dice < 0.1) await client.delete(gadget, key)
    else await client.patch(gadget, key, { spec: { value } })
  } catch (error) {
    if (!isNotFound(error)) throw error
    await client.create(gadget, { metadata: key, spec: { value } }).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error
    })
  }
}

/** Changes every Gadget once. */
export async function changeAll(client: Client): Promise<void> {
  for (const { metadata, spec } of (await client.list(gadget, { namespace })).items) {
    await client.patch(gadget, metadata, { spec: { value: spec.value + 1 } })
  }
}
