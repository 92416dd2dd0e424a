/** Tests of the loop that keeps the volumes of a Pod up to date. */
import t from 'tap'
import type { Test } from 'tap'
import { VolumeLoop } from '../../../../src/devcluster/pods/runtime/volume-loop.ts'
import type { PodVolumes, VolumeError } from '../../../../src/devcluster/pods/volumes/pod-volumes.ts'
import { FakeClock } from '../../../../src/testing/fake-clock.ts'
import { until } from '../../../../src/testing/until.ts'
import { podWith } from '../../../support/pods/fake-sources.ts'

const failed: readonly VolumeError[] = [{ name: 'VolumeError', reason: 'FailedMount', message: 'not found' }]

/** A `VolumeLoop` with a fake `PodVolumes`. A call of `PodVolumes.sync` ends only when the test calls `made`. */
class World {
  readonly clock = new FakeClock()
  refreshAt = Number.POSITIVE_INFINITY
  readyCount = 0
  readonly reported: (readonly VolumeError[])[] = []
  /** The calls of `sync`, in their order. */
  readonly syncs: PromiseWithResolvers<readonly VolumeError[]>[] = []
  readonly loop: VolumeLoop
  readonly end = new AbortController()

  constructor(t: Test) {
    const volumes = {
      sync: () => {
        const sync = Promise.withResolvers<readonly VolumeError[]>()
        this.syncs.push(sync)
        return sync.promise
      },
    }
    Object.defineProperty(volumes, 'refreshAt', { get: () => this.refreshAt })
    this.loop = new VolumeLoop(volumes as unknown as PodVolumes, {
      clock: this.clock,
      signal: this.end.signal,
      pod: () => podWith(),
      onReady: () => (this.readyCount += 1),
      onErrors: (errors) => this.reported.push(errors),
    })
    t.teardown(() => this.end.abort())
  }

  /** Ends the latest call of `sync` with `errors`, and resolves when the loop has handled this result. */
  async made(errors: readonly VolumeError[] = []): Promise<void> {
    this.syncs.at(-1)!.resolve(errors)
    for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate)
  }
}

t.test('volumes that are not ready are tried again, later and later, and a change tries at once', async (t) => {
  const world = new World(t)
  await world.made(failed)
  t.strictSame([world.syncs.length, world.readyCount, world.reported], [1, 0, [failed]])
  await world.clock.advance(499)
  t.equal(world.syncs.length, 1)
  await world.clock.advance(1)
  t.equal(world.syncs.length, 2)
  await world.made(failed)
  await world.clock.advance(999)
  t.equal(world.syncs.length, 2)
  world.loop.changed()
  await until('the third try', () => world.syncs.length === 3)
  await world.made()
  t.equal(world.readyCount, 1)
})

t.test('a change while the volumes are being made makes them again', async (t) => {
  const world = new World(t)
  world.loop.changed()
  await world.made()
  t.equal(world.syncs.length, 2)
  await world.made()
  t.strictSame([world.syncs.length, world.readyCount], [2, 1], 'once, and the Pod is ready once')
})

t.test('volumes are made again when their tokens have to be replaced, and no more after the end', async (t) => {
  const world = new World(t)
  world.refreshAt = world.clock.now() + 60_000
  await world.made()
  await world.clock.advance(59_999)
  t.equal(world.syncs.length, 1)
  await world.clock.advance(1)
  t.equal(world.syncs.length, 2)
  world.refreshAt = Number.POSITIVE_INFINITY
  await world.made()
  world.end.abort()
  await world.loop.ended
  world.loop.changed()
  await world.clock.advance(120_000)
  t.equal(world.syncs.length, 2)
})

t.test('a token is renewed soon after the machine has slept beyond the time of its renewal', async (t) => {
  const world = new World(t)
  world.refreshAt = world.clock.now() + 3_000_000
  await world.made()
  // The time of day jumps forward, but the remaining time of each timer stays the same. The sleep of a machine has the same effect.
  world.clock.set(world.clock.now() + 7_200_000)
  await world.clock.advance(60_000)
  t.equal(world.syncs.length, 2)
})

t.test('a token that is still due after a failed try is not renewed before the next try', async (t) => {
  const world = new World(t)
  world.refreshAt = world.clock.now() + 300
  await world.made(failed)
  await world.clock.advance(300)
  t.equal(world.syncs.length, 2, 'the second try is at the time of the renewal')
  await world.made(failed)
  await world.clock.advance(999)
  t.equal(world.syncs.length, 2)
  await world.clock.advance(1)
  t.equal(world.syncs.length, 3)
})
