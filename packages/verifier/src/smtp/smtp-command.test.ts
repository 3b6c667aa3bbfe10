import { expect, test } from "vitest";
import { commandLine, type SmtpVerb } from "./smtp-command.ts";

test("commandLine returns one line of ASCII or UTF-8", () => {
  expect(commandLine("QUIT").toString()).toBe("QUIT\r\n");
  expect(commandLine("RCPT", "TO:<δοκιμή@one.test>").toString()).toBe("RCPT TO:<δοκιμή@one.test>\r\n");
});

test.each(["a\r\nDATA", "a\n", "a\r", "a\0", "\t", "\x7f", "x".repeat(600)])(
  "commandLine throws a TypeError for the argument %j",
  (argument) => {
    expect(() => commandLine("RCPT", argument)).toThrow(TypeError);
  },
);

test.each(["DATA", "BDAT", "VRFY", "EXPN", "AUTH", "rcpt", "MAIL\r\nDATA"])(
  "commandLine throws a TypeError for the command %j",
  (verb) => {
    expect(() => commandLine(verb as SmtpVerb)).toThrow(TypeError); // Also forbidden by the types.
  },
);
