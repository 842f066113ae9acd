/** The service cannot start. The message is one line that says what is wrong and what to do; it holds no secret. */
export class BootError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message.replace(/\s*\n\s*/g, ' '), options);
    this.name = 'BootError';
  }
}
