/** ConversionReviews that need much memory or time. Every client that reaches the webhook port can send them. */

interface HostileConversion {
  readonly name: string
  readonly text: () => string
  /** The number of requests that are sent at the same time. */
  readonly atATime: number
}

const reviewOf = (objects: string, beside = ''): string =>
  `{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1",${beside}"request":{"uid":"u","desiredAPIVersion":"example.com/v1","objects":[${objects}]}}`
const jobOf = (fields: string, metadata = '"name":"dense"'): string =>
  `{"apiVersion":"example.com/v1beta1","kind":"Job","metadata":{${metadata}},"spec":{"cron":"1 2"${fields}}}`
const list = (item: string, count: number): string => `[${`${item},`.repeat(count - 1)}${item}]`

export const hostileConversions: readonly HostileConversion[] = [
  { name: 'a ConversionReview of 7,000,000 numbers', text: () => reviewOf(list('1', 7_000_000).slice(1, -1)), atATime: 1 },
  { name: 'a ConversionReview of 4,000,000 empty objects', text: () => reviewOf(list('{}', 4_000_000).slice(1, -1)), atATime: 1 },
  {
    name: 'a ConversionReview with 4,800,000 empty objects beside its request',
    text: () => reviewOf('', `"a":${list('{}', 2_400_000)},"b":${list('{}', 2_400_000)},`),
    atATime: 1,
  },
  { name: 'a ConversionReview with 40 MB of white space', text: () => reviewOf(' '.repeat(40e6)), atATime: 1 },
  {
    name: 'four ConversionReviews at a time with an object of 2,600,000 values',
    text: () => reviewOf(jobOf(`,"x":${list('{}', 2_600_000)}`)),
    atATime: 4,
  },
  {
    name: 'four ConversionReviews at a time with objects of 49,000 items with defaults',
    text: () => reviewOf(list(jobOf(`,"tasks":${list('{}', 49_000)}`), 10).slice(1, -1)),
    atATime: 4,
  },
  {
    name: 'four ConversionReviews at a time with objects of 99,000 labels',
    text: () => {
      const labels = Array.from({ length: 99_000 }, (_, index) => `"n${index}":"1"`)
      return reviewOf(list(jobOf('', `"name":"dense","labels":{${labels.join()}}`), 3).slice(1, -1))
    },
    atATime: 4,
  },
  {
    name: 'four ConversionReviews at a time with objects of 99,000 integers beyond 2^53',
    text: () => reviewOf(list(jobOf(`,"x":${list('9007199254740993', 99_000)}`), 3).slice(1, -1)),
    atATime: 4,
  },
]
