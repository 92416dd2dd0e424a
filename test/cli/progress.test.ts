import t from 'tap'
import { terminalProgress } from '../../src/cli/progress.ts'

function stream(isTTY: boolean): { stream: NodeJS.WriteStream; written: string[] } {
  const written: string[] = []
  const stream = { isTTY, write: (text: string) => written.push(text), getColorDepth: () => 8, hasColors: () => true }
  return { stream: Object.assign(Object.create(process.stderr) as NodeJS.WriteStream, stream), written }
}

t.test('on a terminal each step is a line with its result and duration', (t) => {
  const { stream: terminal, written } = stream(true)
  const progress = terminalProgress(terminal)
  progress.done('webhooks', 'https://a')
  progress.done('a step of many words', 'b')
  progress.say('as it is')
  const plain = written.map((line) => line.replace(/\x1b\[\d+m/g, '').replace(/ \d\.\d s/, ' N s'))
  t.strictSame(plain, ['  ✓ webhooks           https://a N s\n', '  ✓ a step of many words b N s\n', 'as it is\n'])
  t.end()
})

t.test('without a terminal nothing is written', (t) => {
  const { stream: file, written } = stream(false)
  const progress = terminalProgress(file)
  progress.done('webhooks', 'https://a')
  progress.say('as it is')
  t.strictSame(written, [])
  t.end()
})
