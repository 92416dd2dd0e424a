import t from 'tap'
import { Heap, type HeapItem } from '../../src/controller/heap.ts'
import { fc } from '../support/property.ts'

interface Numbered extends HeapItem {
  readonly value: number
}

t.test('items come out in order, also after removals', async () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.integer({ min: 0, max: 50 }), fc.boolean())), (entries) => {
      const heap = new Heap<Numbered>((a, b) => a.value < b.value)
      const items = entries.map(([value, stays]) => ({ value, stays, position: -1 }))
      for (const item of items) heap.push(item)
      for (const item of items) if (!item.stays) heap.remove(item)
      const expected = items
        .filter(({ stays }) => stays)
        .map(({ value }) => value)
        .sort((a, b) => a - b)
      const actual: number[] = []
      while (heap.first !== undefined) actual.push(heap.pop()!.value)
      return JSON.stringify(actual) === JSON.stringify(expected) && items.every(({ position }) => position === -1)
    }),
  )
})

t.test('the item that replaces a removed one may have to move up', async (t) => {
  const heap = new Heap<Numbered>((a, b) => a.value < b.value)
  // In the heap, 10 is the parent of 11 and 12, and 1 is the parent of 2 and 3. When 11 is removed, the last item, 3, takes its place, and
  // must then move above 10.
  const items = [0, 10, 1, 11, 12, 2, 3].map((value) => ({ value, position: -1 }))
  for (const item of items) heap.push(item)
  heap.remove(items[3]!)
  heap.push({ value: 20, position: -1 })
  const values: number[] = []
  while (heap.first !== undefined) values.push(heap.pop()!.value)
  t.strictSame(values, [0, 1, 2, 3, 10, 12, 20])
})

t.test('an empty heap has no first item', async (t) => {
  const heap = new Heap<Numbered>((a, b) => a.value < b.value)
  t.equal(heap.first, undefined)
  t.equal(heap.pop(), undefined)
})
